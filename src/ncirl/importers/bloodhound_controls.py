"""What ends an edge of a domain for good, or for a stage: what a person who runs it would do, by its kind.

Each control is told by what is taken away from whom, so that a right of a group is the group's and a membership is one
member's. A certificate template is neither disabled nor withdrawn, since others may need it, domain controllers first:
the flag that makes it serve is cleared, or a right over it is taken away.

Nothing ends what tier zero can do: it gives itself back whatever is taken away from it. Nobody leaves the groups that
everybody of a sort is in, and the default policies stay linked.
"""

from collections.abc import Mapping

from ncirl.errors import InputError
from ncirl.importers.bloodhound_graph import MEMBERSHIPS, Edge
from ncirl.importers.bloodhound_kinds import UNKNOWN, KindOfEdge, known_kind
from ncirl.importers.bloodhound_reading import Reading, is_tier_zero
from ncirl.importers.defaults import LASTING_STAGES
from ncirl.importers.draft import Draft
from ncirl.importers.options import ImportOptions
from ncirl.importers.report import SOURCE, Origin

__all__ = ["NO_CONTROLS", "added", "endings", "wanted_controls"]

EVERYBODYS = ("S-1-1-0", "S-1-5-11", "-513", "-514", "-515", "-516")
"""Everyone, Authenticated Users; the groups of all users, guests, computers and domain controllers of a domain."""
DEFAULT_POLICIES = ("DEFAULT DOMAIN POLICY", "DEFAULT DOMAIN CONTROLLERS POLICY")
CONTROLS = NO_CONTROLS, MOMENTARY, LASTING = ("none", "momentary", "lasting")


def wanted_controls(options: ImportOptions) -> str:
    """Return which controls a person wants: what lasts, unless another is set."""
    wanted = options.setting("controls") or LASTING
    if wanted not in CONTROLS:
        raise InputError(f"must be one of {', '.join(CONTROLS)}", f"setting controls={wanted}")
    return wanted if options.controls else NO_CONTROLS


def endings(draft: Draft, edge: Edge, reading: Reading, wanted: str) -> list[str]:
    """Add what ends an edge to a draft, and return its keys; that of edges without effort is one at most."""
    known = known_kind(edge.kind, reading.kinds) or UNKNOWN
    is_member = edge.kind.endswith("MemberOf") or edge.kind in MEMBERSHIPS
    if wanted == NO_CONTROLS or not known.control or is_tier_zero(reading.nodes[edge.start]):
        return []
    if (is_member and edge.end.endswith(EVERYBODYS)) or reading.name(edge.start).upper().startswith(DEFAULT_POLICIES):
        return []
    start, end = reading.name(edge.start), reading.name(edge.end)
    lasting = wanted == LASTING
    tie = f"{edge.kind} {edge.start} {edge.end}"
    told = {tie: f"{known.control}: {edge.kind} of {start} over {end}"}
    if edge.by:
        told = dict(_of_certificates(edge, reading.name(edge.by[0])))
    elif edge.takes:
        told = {}
    elif is_member:
        told = {tie: f"remove {start} from {end}"}
    elif known.control == "remove the right":
        told = {tie: f"remove {edge.kind} of {start} over {end}"}
    elif edge.kind == "GPLink":
        told = {tie: f"unlink the policy {start} from {end}"}
    elif edge.kind == "HasSession":
        told = {tie: f"let {end} log on to {start} no more"}
    keys = added(draft, edge, told, reading, wanted)
    if edge.kind == "HasSession" and lasting:
        label = f"log {end} off from {start} for a stage"
        cost, origin = _cost(known, lasting=False)
        keys.append(
            draft.control(f"log off {tie}", label, lasting=False, cost=cost, origin=origin, references=[edge.kind])
        )
    return keys


def added(draft: Draft, edge: Edge, told: Mapping[str, str], reading: Reading, wanted: str) -> list[str]:
    """Add what ends an edge to a draft, by key what it is to people, and return the keys."""
    lasting = wanted == LASTING
    cost, origin = _cost(known_kind(edge.kind, reading.kinds) or UNKNOWN, lasting)
    return [
        draft.control(key, label, lasting=lasting, cost=cost, origin=origin, references=[edge.kind])
        for key, label in told.items()
    ]


def _cost(known: KindOfEdge, lasting: bool) -> tuple[float | None, Origin]:
    """Return what a table says that ending edges of a kind costs, and where that is from; nothing without one."""
    origin = known.origins["block_cost"]
    if known.block_cost is None or origin.default:
        return None, SOURCE
    if not lasting:
        return known.block_cost, origin
    words = f"paid once, as much as {LASTING_STAGES:g} stages of blocking by {origin.words}; --lasting-cost sets it"
    return LASTING_STAGES * known.block_cost, Origin(words, default=True)


def _of_certificates(edge: Edge, name: str) -> list[tuple[str, str]]:
    """Return the controls, by key, over the first template that an edge goes by, or over the authority."""
    if edge.kind == "ADCSESC1":
        return [(f"subject {edge.by[0]}", f"clear 'enrollee supplies subject' of the template {name}")]
    if edge.kind == "ADCSESC3":
        return [(f"approve {edge.by[0]}", f"require approval at the template {name}")]
    if edge.kind == "GoldenCert":
        return [(f"key {edge.by[0]}", f"keep the key of the authority {name} in hardware")]
    return []
