"""What a NASim scenario says, checked; addresses such as ``(2, 0)`` are text, and are parsed.

NASimEmu's dialect, which leaves hosts, firewalls or sizes to chance, is refused by name: there is no one network in it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ncirl.errors import InputError
from ncirl.importers.draft import Draft
from ncirl.importers.values import chance, mapping, number, text, texts

__all__ = ["INTERNET", "Address", "Attack", "Host", "Scenario", "scenario_of"]

Address = tuple[int, int]
INTERNET = 0
ADDRESS = re.compile(r"[(\[]?\s*(\d{1,9})\s*,\s*(\d{1,9})\s*[)\]]?")
RANGE = re.compile(r"\d+\s*-\s*\d+")
LEVELS = {"user": "user", "1": "user", "1.0": "user", "root": "root", "2": "root", "2.0": "root"}
ANY = ("", "none", "null", "~")
SCANS = ("service_scan_cost", "os_scan_cost", "subnet_scan_cost", "process_scan_cost")


@dataclass(frozen=True)
class Attack:
    """An exploit of a service, or an escalation by a process; None where the file says nothing."""

    name: str
    target: str
    remote: bool
    os: str
    gives: str
    chance: float | None
    cost: float | None


@dataclass(frozen=True)
class Host:
    """A host; `denies` has the services that its own firewall refuses, by source."""

    address: Address
    os: str
    services: frozenset[str]
    processes: frozenset[str]
    denies: Mapping[Address, frozenset[str]]
    value: float

    def is_open_to(self, attack: Attack) -> bool:
        """Tell whether an exploit or an escalation can work here."""
        runs = self.services if attack.remote else self.processes
        return attack.os in ("", self.os) and (attack.target in runs or not (attack.target or attack.remote))


@dataclass
class Scenario:
    """A network; `firewall` has the services that pass from one subnet to another, None where nothing is said."""

    topology: list[list[bool]]
    hosts: dict[Address, Host]
    exploits: list[Attack]
    escalations: list[Attack]
    firewall: dict[Address, frozenset[str]] | None
    values: dict[Address, float]

    def passes(self, source: int, target: int, service: str) -> bool:
        """Tell whether a service can be reached in one subnet from another."""
        if source == target:
            return True
        if not self.topology[source][target]:
            return False
        return self.firewall is None or service in self.firewall.get((source, target), ())


def scenario_of(data: Mapping[str, Any], draft: Draft, where: str) -> Scenario:
    """Return the scenario in plain data; what is assumed or left out is noted in the draft.

    Raises `InputError` when it is of NASimEmu's dialect, or with every fault.
    """
    _refuse_dialect(data, where)
    faults: list[str] = []
    topology = _topology(data, faults)

    def by_address(place: str) -> Iterator[tuple[Address, Any]]:
        return _by_address(data.get(place), place, len(topology), faults)

    hosts = {at: _host(at, source) for at, source in by_address("host_configurations") if isinstance(source, Mapping)}
    exploits = list(_attacks(data.get("exploits"), "exploits", True, faults))
    escalations = list(_attacks(data.get("privilege_escalation"), "privilege_escalation", False, faults))
    firewall = None
    if data.get("firewall") is None:
        draft.note("assumed", "no firewall is given, so everything passes between connected subnets")
    else:
        firewall = {pair: frozenset(texts(services)) for pair, services in by_address("firewall")}
    values = {}
    for address, value in by_address("sensitive_hosts"):
        found = number(value)
        if found is None:
            faults.append(f"sensitive_hosts.{address}: must be a number, got {value!r:.60}")
        else:
            values[address] = found
    faults += [f"sensitive_hosts.{a}: no such host in host_configurations" for a in values if a not in hosts]
    if not hosts:
        faults.append("host_configurations: no host is given")
    if not exploits:
        faults.append("exploits: none is given, so nobody can get in")
    if faults:
        raise InputError(faults[:20], where)
    for host in hosts.values():
        if host.value < 0:
            told = "hosts of negative value (honeypots): attackers are not assumed to know them"
            draft.note("dropped", told, str(host.address))
        elif host.value and host.address not in values:
            draft.note("dropped", "values of hosts that are not among the sensitive ones", str(host.address))
    if any(number(data.get(scan)) for scan in SCANS):
        draft.note("dropped", "scans and their costs: attackers are taken to know the network")
    return Scenario(topology, hosts, exploits, escalations, firewall, values)


def _refuse_dialect(data: Mapping[str, Any], where: str) -> None:
    subnets, sensitive = data.get("subnets"), mapping(data.get("sensitive_hosts"))
    signs = {
        "sizes of subnets": any(RANGE.fullmatch(size) for size in texts(subnets)),
        "hosts": text(data.get("host_configurations")).startswith("_"),
        "the firewall": text(data.get("firewall")).startswith("_"),
        "sensitive hosts": bool(sensitive) and all(key.strip().isdigit() for key in sensitive),
    }
    by_chance = [said for said, is_so in signs.items() if is_so]
    if by_chance:
        raise InputError(
            f"is a NASimEmu scenario (version 2), which leaves {', '.join(by_chance)} to chance; there is no one "
            "network in it: let NASimEmu draw one and save it as a NASim scenario",
            where,
        )


def _topology(data: Mapping[str, Any], faults: list[str]) -> list[list[bool]]:
    given = data["topology"]
    rows = given if isinstance(given, list) else []
    size = len(rows)
    if not rows or any(not isinstance(row, list) or len(row) != size for row in rows):
        faults.append("topology: must be a square table of 0 and 1, the internet first")
        return []
    subnets = data["subnets"]
    if not isinstance(subnets, list) or size not in (len(subnets) + 1, len(subnets)):
        faults.append(f"subnets: must list the sizes of the {size - 1} subnets of the topology")
    return [[bool(number(cell)) for cell in row] for row in rows]


def _host(address: Address, source: Mapping[str, Any]) -> Host:
    denied = ((_address(key), services) for key, services in mapping(source.get("firewall")).items())
    return Host(
        address,
        text(source.get("os")),
        frozenset(texts(source.get("services"))),
        frozenset(texts(source.get("processes"))),
        {by: frozenset(texts(services)) for by, services in denied if by is not None},
        number(source.get("value")) or 0.0,
    )


def _attacks(given: Any, kind: str, remote: bool, faults: list[str]) -> Iterator[Attack]:
    if given is None:
        return
    if not isinstance(given, Mapping):
        faults.append(f"{kind}: must be a map by name, got {type(given).__name__}")
        return
    for name, source in given.items():
        at = f"{kind}.{name}"
        if not isinstance(source, Mapping):
            faults.append(f"{at}: must be a map, got {type(source).__name__}")
            continue
        level = LEVELS.get(text(source.get("access")).lower() or ("user" if remote else "root"))
        if level is None:
            faults.append(f"{at}.access: must be user or root, got {source.get('access')!r:.60}")
            continue
        for field, read, wanted in (("prob", chance, "a probability"), ("cost", number, "a number")):
            if source.get(field) is not None and read(source[field]) is None:
                faults.append(f"{at}.{field}: must be {wanted}, got {source[field]!r:.60}")
        os, target = (text(source.get(key)) for key in ("os", "service" if remote else "process"))
        yield Attack(
            name=text(name),
            target="" if target.lower() in ANY else target,
            remote=remote,
            os="" if os.lower() in ANY else os,
            gives=level,
            chance=chance(source.get("prob")),
            cost=number(source.get("cost")),
        )


def _by_address(given: Any, place: str, subnets: int, faults: list[str]) -> Iterator[tuple[Address, Any]]:
    """Yield the entries of a map whose keys are pairs, such as the address of a host or two subnets."""
    if given is None:
        return
    if not isinstance(given, Mapping):
        faults.append(f"{place}: must be a map, got {type(given).__name__}")
        return
    for key, value in given.items():
        found = _address(key)
        if found is None:
            faults.append(f"{place}: key {key!r:.60} must be a pair such as (1, 0)")
        elif subnets and found[0] >= subnets:
            faults.append(f"{place}.{key}: there is no subnet {found[0]}")
        else:
            yield found, value


def _address(key: Any) -> Address | None:
    match = ADDRESS.fullmatch(text(key))
    return (int(match[1]), int(match[2])) if match else None
