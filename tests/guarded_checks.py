"""What must hold of a bracket on a small graph: against the game listed whole, and every lifted strategy evaluated."""

from collections.abc import Iterable

import ncirl
from guarded_instances import Instance, random_instance, solved
from ncirl.attack_graphs.guarded.attacker import GuardedAttacker, attackers
from ncirl.attack_graphs.guarded.bundles import Bundled
from ncirl.attack_graphs.guarded.check import verify_guarded
from ncirl.attack_graphs.guarded.defender import GuardedDefender, PartDefender
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.opened import Opening
from ncirl.attack_graphs.guarded.parts import terms
from ncirl.attack_graphs.guarded.relaxed import Relaxed
from ncirl.attack_graphs.guarded.seen import Words

OFF = 1e-6


def is_inside(instance: Instance) -> None:
    exact = solved(instance.graph.game(), ncirl.Certified(gap=1e-3, time_limit=3))
    assert instance.proof.lower <= exact.upper + OFF
    assert instance.proof.upper >= exact.lower - OFF


def promises_hold(instance: Instance) -> None:
    words, opening = Words(instance.graph), Opening(Net(instance.graph), instance.proof.opening)
    net, parts = opening.net, [proof.part for proof in instance.proof.parts]
    lifted = [
        PartDefender(Relaxed(net, part, its), proof.defender_playbook)
        for part, its, proof in zip(parts, terms(net, parts), instance.proof.parts, strict=True)
    ]
    found = ncirl.best_response_to_defender(words.game, GuardedDefender(lifted, words, opening), tolerance=1e-7)
    assert (found.per_intent <= instance.proof.per_intent + found.error + OFF).all()


def bounds_are_secured(instance: Instance) -> None:
    net, words = Net(instance.graph), Words(instance.graph)
    lifted = attackers((Bundled(net, proof.group), proof.attacker_playbook) for proof in instance.proof.groups)
    found = ncirl.best_response_to_attacker(words.game, GuardedAttacker(net, lifted, words), tolerance=1e-7)
    assert found.value >= instance.proof.lower - found.error - OFF


def check_seeds(seeds: Iterable[int], *, controlled: bool = False, opened: bool = False) -> int:
    """Check the random instances of some seeds; most are small enough to be listed. Return how many."""
    seeds, met = list(seeds), 0
    for seed in seeds:
        instance = random_instance(seed, controlled=controlled, opened=opened)
        if instance is None:
            continue
        met += 1
        for check in (is_inside, promises_hold, bounds_are_secured):
            try:
                check(instance)
            except Exception as error:
                raise AssertionError(f"seed {seed}, {check.__name__}") from error
        certificate = verify_guarded(instance.proof)
        assert certificate.holds, (seed, certificate.faults)
    assert met > len(seeds) / (6 if opened else 2)
    return met
