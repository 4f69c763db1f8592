"""Drive `ncirl defend --json` from another program, with nothing but the standard library.

    python examples/soar_client.py office.ncirl

A SOAR playbook would block what is advised at the firewall and read what happened from its sensors. Here both are
played by a list: what was attempted, what became enabled.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

INTRUSION = [  # of the policy that `ncirl solve builtin:office --gap 1% -o office.ncirl` writes
    {"attacker": ["exploit web app"], "new": ["web-server"]},
    {"attacker": ["phish a password", "inject SQL"], "new": ["mail"]},
    {"attacker": ["mail an attachment"], "new": ["workstation"]},
]


class Defence:
    """A running `ncirl defend --json`."""

    def __init__(self, policy: str) -> None:
        command = [sys.executable, "-m", "ncirl", "defend", policy, "--json"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, do: str, **told: object) -> dict[str, Any]:
        """Send a request and return the response, whatever it is."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the process has no pipes")
        self._process.stdin.write(json.dumps({"do": do, **told}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"ncirl ended with exit code {self._process.wait()}")
        response: dict[str, Any] = json.loads(line)
        return response

    def close(self) -> int:
        """Say good-bye and return the exit code."""
        self.ask("quit")
        return self._process.wait()


def main(policy: str) -> int:
    """Follow the intrusion and print what is advised at each step."""
    defence = Defence(policy)
    advice = defence.ask("advise")["advice"]
    for seen in INTRUSION:
        print(f"stage {advice['stage']}: block {advice['drawn']}")
        response = defence.ask("observe", **seen)
        if "error" in response:  # what the sensors say cannot follow what was blocked: say what was really blocked
            print(f"  {response['error']['message']}")
            response = defence.ask("observe", defender="nothing", **seen)
        advice = response["advice"]
        likeliest = max(advice["posterior"], key=advice["posterior"].get)
        print(f"  enabled: {', '.join(advice['enabled'])}; likeliest intent: {likeliest}")
        print(f"  it gets at most {advice['promised'][likeliest]:.2f} from here on")
    return defence.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
