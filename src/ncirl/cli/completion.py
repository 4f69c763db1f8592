"""``ncirl completion``: Tab in the shell."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

from cyclopts import Parameter

from ncirl.cli.output import print_json
from ncirl.errors import InputError

__all__ = ["completion"]


def completion(
    shell: Annotated[
        Literal["bash", "zsh", "fish", "powershell"] | None, Parameter(help="The shell; the one in use if not given.")
    ] = None,
    /,
    *,
    json: Annotated[bool, Parameter(name="--json", negative="", help="Print one JSON object.")] = False,
) -> None:
    """Print the script that lets a shell complete what `ncirl` understands.

    Keep it where the shell looks, such as ~/.local/share/bash-completion/completions/ncirl, ~/.zfunc/_ncirl or
    ~/.config/fish/completions/ncirl.fish.

    Example: `ncirl completion bash`, `ncirl completion zsh --json`
    """
    from cyclopts.completion.detect import ShellDetectionError, detect_shell

    from ncirl.cli.app import app

    try:
        chosen = shell or detect_shell()
    except ShellDetectionError:
        raise InputError("shell: cannot tell which is in use; say bash, zsh, fish or powershell") from None
    script = app.generate_completion(prog_name="ncirl", shell=chosen)
    script = script.replace("complete -F _ncirl ncirl", "complete -o default -F _ncirl ncirl")  # bash: files too
    if json:
        print_json({"shell": chosen, "script": script})
    else:
        sys.stdout.write(script)
