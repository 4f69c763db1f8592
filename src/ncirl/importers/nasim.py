"""Scenarios of the Network Attack Simulator (NASim): subnets behind firewalls, hosts with services and processes.

For every host there are two conditions, user and root access. An exploit is tried from the internet or from a subnet
in which the attacker has access to some host, where topology and firewall let its service pass; inside a subnet
everything passes. A privilege escalation needs user access on the same host. Probabilities and costs are the file's,
and so is the reward of each intent: the value of one sensitive host, for root access to it.

To have access to some host of a subnet is a condition of its own, "a foothold", that follows from each of them at once
(see `immediate`): a step is tried from any of them.

The defender closes services for good, between two subnets or, as the format has firewalls of hosts too, on one host.
An escalation of privileges passes no firewall: no control stops it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ncirl.formats.untrusted import read_data
from ncirl.importers.draft import Draft
from ncirl.importers.nasim_scenario import INTERNET, Address, Attack, Host, Scenario, scenario_of
from ncirl.importers.options import ImportOptions
from ncirl.importers.recognise import not_of_format, one_file, recognise_data

__all__ = ["read"]

WANTED = "a NASim scenario (YAML)"


def read(paths: Sequence[Path], options: ImportOptions) -> Draft:
    """Read one NASim scenario."""
    path = one_file(paths, WANTED)
    data = read_data(path, options.size_limit)
    if not (isinstance(data, Mapping) and "subnets" in data and "topology" in data):
        raise not_of_format(path, WANTED, "nasim", options.size_limit, recognise_data(data))
    draft = Draft("nasim", path.stem)
    scenario = scenario_of(data, draft, str(path))
    _Network(scenario, draft).fill()
    return draft


class _Network:
    """A scenario being written into a draft."""

    def __init__(self, scenario: Scenario, draft: Draft) -> None:
        self.scenario, self.draft = scenario, draft
        self.ways_in: dict[int, dict[str, Address]] = defaultdict(dict)  # conditions that give a foothold, by subnet
        self.footholds: set[int] = set()
        for host in scenario.hosts.values():
            for exploit in scenario.exploits:
                if host.is_open_to(exploit):
                    self.ways_in[host.address[0]][access(host.address, exploit.gives)] = host.address

    def fill(self) -> None:
        """Write everything."""
        self.draft.condition("internet", initial=True)
        for subnet, number in self.scenario.hosts:
            for level in ("user", "root"):
                label = f"{level} access on ({subnet}, {number})"
                self.draft.condition(access((subnet, number), level), label=label, asset=f"({subnet}, {number})")
        for host in self.scenario.hosts.values():
            for exploit in filter(host.is_open_to, self.scenario.exploits):
                for source, subnet in self._sources(host, exploit.target):
                    controls = self._firewalls(host, exploit.target, subnet)
                    self._attack(exploit, host, source, f" from {source}", controls)
            for escalation in filter(host.is_open_to, self.scenario.escalations):
                self._attack(escalation, host, access(host.address, "user"))
        for subnet in sorted(self.footholds):
            key = _foothold(subnet)
            self.draft.condition(key, label=f"a foothold in subnet {subnet}")
            for way in self.ways_in[subnet]:
                self.draft.exploit(
                    f"{key} by {way}",
                    needs=[way],
                    gives=key,
                    label=f"through {way}",
                    immediate=True,
                )
        if self.footholds:
            self.draft.note("assumed", "access to a host gives a foothold in its subnet, at once and for free")
        for address, value in self.scenario.values.items():
            if value > 0:
                self.draft.goal(access(address, "root"), reward=value)

    def _firewalls(self, host: Host, service: str, source: int) -> list[str]:
        """Return the controls that keep a service of a host out of reach of a subnet."""
        target = host.address[0]
        own = f"deny {service} on {host.address}"
        found = [self.draft.control(own, f"host firewall: {own}")]
        if source != target:
            told = f"firewall: close {service} from {_zone(source)} to {_zone(target)}"
            found.append(self.draft.control(told, told))
        return found

    def _sources(self, host: Host, service: str) -> Iterator[tuple[str, int]]:
        """Yield the conditions from which a service of a host can be reached, each with its subnet."""
        for subnet in range(len(self.scenario.topology)):
            if not self.scenario.passes(subnet, host.address[0], service):
                continue
            if subnet == INTERNET:
                yield "internet", subnet
                continue
            ways = self.ways_in[subnet]
            allowed = [way for way, source in ways.items() if service not in host.denies.get(source, ())]
            if len(allowed) == len(ways) > 1:
                self.footholds.add(subnet)
                yield _foothold(subnet), subnet
            else:
                yield from ((way, subnet) for way in allowed if ways[way] != host.address)

    def _attack(self, attack: Attack, host: Host, source: str, told: str = "", controls: Sequence[str] = ()) -> None:
        what = f"{'exploit of' if attack.remote else 'escalation by'} {attack.target or 'anything'}"
        self.draft.exploit(
            f"{attack.name} {host.address[0]}.{host.address[1]}{told}",
            needs=[source],
            gives=access(host.address, attack.gives),
            success=attack.chance,
            attack_cost=attack.cost,
            label=f"{what} on {host.address} ({attack.name}){told}",
            asset=str(host.address),
            references=[attack.name],
            controls=controls,
        )


def access(address: Address, level: str) -> str:
    """Return the condition of having a level of access to a host."""
    return f"{address[0]}.{address[1]}:{level}"


def _zone(subnet: int) -> str:
    return "the internet" if subnet == INTERNET else f"subnet {subnet}"


def _foothold(subnet: int) -> str:
    return f"subnet-{subnet}"
