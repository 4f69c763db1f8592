"""Openings: lasting controls applied at once, with the parts in the graph that has them in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ncirl
from guarded_checks import OFF, check_seeds
from guarded_instances import proved, random_graph, random_instance, solved, with_controls
from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit, Intent
from ncirl.attack_graphs.guarded.check import verify_guarded
from ncirl.attack_graphs.guarded.cut_off import chosen
from ncirl.attack_graphs.guarded.cuts import Flow
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.parts import Part
from ncirl.attack_graphs.guarded.plays import play
from ncirl.attack_graphs.guarded.proof import GuardedProof
from ncirl.attack_graphs.guarded.seen import Words
from ncirl.cli.app import main
from ncirl.defence.first_moves import opening_data
from ncirl.defence.guarded_session import GuardedSession
from ncirl.defence.why_nothing import why_nothing
from ncirl.errors import InputError
from ncirl.formats.guarded_file import open_guarded
from ncirl.limits import UNLIMITED
from ncirl.solution import Progress

SEEDS = [range(5000 + 25 * block, 5025 + 25 * block) for block in range(6)]
QUICK = ncirl.Guarded(relative_gap=0.05, time_limit=4)
GOALS = ("admins", "backup", "vault")
CUT = ("leave g0", "leave g1", "leave g2")


@pytest.mark.parametrize("seeds", SEEDS)
def test_opened_brackets_hold_on_the_whole_graph_and_what_is_promised_is_kept(seeds: range) -> None:
    assert check_seeds(seeds, controlled=True, opened=True) >= 10


def test_what_the_solver_opens_with_holds_on_the_whole_graph() -> None:
    met = 0
    for seed in range(6010, 6036):
        rng = np.random.default_rng(seed)
        graph = with_controls(random_graph(rng), rng, least=3)
        if len(graph.game().explore(60)) >= 60:
            continue
        found = ncirl.Guarded(relative_gap=0.2, time_limit=2).run(graph)
        if not found.proof.opening:
            continue
        met += 1
        exact = solved(graph.game(), ncirl.Certified(gap=1e-3, time_limit=3))
        assert found.lower <= exact.upper + OFF, seed
        assert found.upper >= exact.lower - OFF, seed
        assert found.verify().holds, seed
        best = ncirl.best_response_to_defender(Words(graph).game, found.defender_strategy(), tolerance=1e-7)
        assert (best.per_intent <= found.per_intent + best.error + OFF).all(), seed
    assert met >= 4


def domain(n: int = 40, memberships: int = 3, **changes: object) -> AttackGraph:
    """Return a domain: a user is in some groups, and whatever each of these may do leads on to all goals."""
    hosts, groups = [f"h{k}" for k in range(n)], [f"g{k}" for k in range(memberships)]
    steps = [Exploit(f"in {g}", ("user",), g, 1.0) for g in groups]
    steps += [Exploit(f"{g} to {h}", (g,), h, 0.9, 0.01) for g in groups for h in hosts]
    steps += [Exploit(f"{h} to {goal}", (h,), goal, 0.9, 0.01) for h in hosts for goal in GOALS]

    def control(name: str, cost: float, *premises: str) -> Control:
        its = [e.id for e in steps if e.premises[0] in premises or e.id == name.replace("leave", "in")]
        return Control(name, tuple(its), cost, "lasting")

    controls = [control(f"leave {g}", 0.1, g) for g in groups] + [control(f"harden {h}", 0.05, h) for h in hosts]
    parts: dict[str, object] = {
        "conditions": (Condition("user", True), *map(Condition, (*groups, *hosts, *GOALS))),
        "exploits": tuple(steps),
        "intents": tuple(Intent(f"wants {goal}", 1 / 3, {goal: 1.0}) for goal in GOALS),
        "controls": tuple(controls),
        "discount": 0.95,
        "name": "domain",
    }
    return AttackGraph(**(parts | changes))  # type: ignore[arg-type]


def policy(proof: GuardedProof) -> ncirl.GuardedSolution:
    return ncirl.GuardedSolution(
        proof, ncirl.Status.FINISHED, ncirl.Stats(0.0, 0, 0.0, 0), QUICK, 1.0, "the larger bound"
    )


@pytest.fixture(scope="module")
def solution() -> ncirl.GuardedSolution:
    return QUICK.run(domain())


def test_a_cut_that_is_too_wide_to_be_watched_is_applied_at_once(solution: ncirl.GuardedSolution) -> None:
    assert set(solution.proof.opening) == set(CUT)
    assert solution.upper == pytest.approx(0.3, abs=1e-12)
    assert solution.per_intent == pytest.approx([0.3] * 3, abs=1e-12)
    assert solution.guards == dict.fromkeys(solution.proof.opening, 1.0)
    assert why_nothing(solution) is None
    assert solution.verify().holds
    assert proved(domain(), [Part(GOALS)], []).upper > 0.8  # with nothing watched
    said = opening_data(solution)["opening"]["says"]
    assert said.startswith("Apply now, once: leave g")
    assert "costs 0.3 in all" in said
    assert "no goal can be reached" in said


def test_an_opening_keeps_within_a_budget() -> None:
    assert QUICK.run(domain(defender_budget=3)).upper == pytest.approx(0.3, abs=1e-12)
    tight = QUICK.run(domain(defender_budget=2))
    assert len(tight.proof.opening) <= 2
    assert tight.verify().holds


@pytest.mark.parametrize("stops_at", [1, 2, 4])
def test_an_interrupted_search_leaves_a_proof(stops_at: int) -> None:
    told: list[Progress] = []

    def stop(progress: Progress) -> None:
        told.append(progress)
        if len(told) >= stops_at:
            raise KeyboardInterrupt

    found = QUICK.run(domain(), progress=stop)
    assert found.status is ncirl.Status.INTERRUPTED
    assert found.upper == pytest.approx(0.3, abs=1e-12)  # nothing is left to do with the opening in place
    assert found.verify().holds


def test_an_opening_where_nobody_knows_the_prior() -> None:
    found = QUICK.run(domain(unknown_prior=True))
    assert set(found.proof.opening) == set(CUT)
    assert found.upper == pytest.approx(0.3, abs=1e-9)
    certificate = found.verify()
    assert certificate.holds, certificate.faults
    graph = domain()
    lure = replace(graph.intents[2], rewards={"vault": 1.0, "lure": 0.3})
    more = replace(
        graph,
        conditions=(*graph.conditions, Condition("lure")),
        exploits=(*graph.exploits, Exploit("another way", ("user",), "lure", 1.0)),
        intents=(*graph.intents[:2], lure),
        unknown_prior=True,
    )
    found = QUICK.run(more)
    assert set(found.proof.opening) == set(CUT)
    assert found.proof.parts
    assert found.upper == pytest.approx(0.6, abs=1e-6)  # the worst prior has the third intent only
    certificate = found.verify()
    assert certificate.holds, certificate.faults


@pytest.mark.parametrize(("reward", "kept"), [(0.02, set()), (0.4, set(CUT))])
def test_what_costs_more_than_it_saves_is_left_out(reward: float, kept: set[str]) -> None:
    intents = tuple(Intent(f"wants {goal}", 1 / 3, {goal: reward}) for goal in GOALS)
    assert set(chosen(Flow(Net(domain(intents=intents))), UNLIMITED)) == kept


def test_a_goal_that_is_dear_to_cut_off_is_let_go() -> None:
    graph = domain()
    more = replace(
        graph,
        conditions=(*graph.conditions, Condition("lure")),
        exploits=(*graph.exploits, Exploit("another way", ("user",), "lure", 1.0)),
        intents=(*graph.intents[:2], replace(graph.intents[2], rewards={"vault": 1.0, "lure": 0.3})),
        controls=(*(graph.controls or ()), Control("dear", ("another way",), 0.9, "lasting")),
    )
    assert set(chosen(Flow(Net(more)), UNLIMITED)) == set(CUT)
    found = QUICK.run(more)
    assert set(found.proof.opening) == set(CUT)
    assert 0.3 < found.upper <= 0.3 + 0.1 + 1e-9
    assert found.verify().holds
    assert "1 of 4 goals still can be reached" in opening_data(found)["opening"]["says"]


@pytest.mark.parametrize(
    ("lie", "fault"),
    [
        (lambda p: replace(p, opening=(*p.opening, "nobody")), "unknown control 'nobody'"),
        (lambda p: replace(p, opening=(*p.opening, p.opening[0])), "appears twice"),
        (lambda p: replace(p, opening=p.opening[1:]), "in no part"),
        (lambda p: replace(p, graph=replace(p.graph, defender_budget=2)), "more than the defender's budget of 2"),
        (lambda p: replace(p, upper=p.upper - 0.3), "the guards concede"),
        (lambda p: replace(p, per_intent=p.per_intent - 0.3), "gets more than it is said to"),
    ],
)
def test_tampered_openings_are_named(
    solution: ncirl.GuardedSolution, lie: Callable[[GuardedProof], GuardedProof], fault: str
) -> None:
    found = verify_guarded(lie(solution.proof))
    assert not found.holds
    assert any(fault in said for said in found.faults), found.faults


def test_a_control_of_the_moment_opens_nothing(solution: ncirl.GuardedSolution) -> None:
    controls = tuple(replace(c, kind="momentary") for c in solution.graph.controls or ())
    found = verify_guarded(replace(solution.proof, graph=replace(solution.graph, controls=controls)))
    assert "opening: control 'leave g0' does not last" in found.faults


def test_parts_share_what_the_opening_leaves_of_a_budget() -> None:
    part = Part(GOALS, ("leave g1",), defender_budget=2)
    truth = proved(domain(4, 2, defender_budget=3), [part], [], ("leave g0",))
    assert verify_guarded(truth).holds
    lie = replace(truth.parts[0], part=replace(part, defender_budget=3))
    assert "part: the defender's budgets are not a division of 2" in verify_guarded(replace(truth, parts=(lie,))).faults


def test_files_keep_the_opening(solution: ncirl.GuardedSolution, tmp_path: Path) -> None:
    solution.save(tmp_path / "p.ncirl")
    read = open_guarded(tmp_path / "p.ncirl")
    assert read.proof.opening == solution.proof.opening
    assert (read.upper, read.guards) == (solution.upper, solution.guards)
    assert read.verify().holds
    replace(solution, proof=replace(solution.proof, opening=("nobody",))).save(tmp_path / "q.ncirl")
    with pytest.raises(InputError, match="unknown control 'nobody'"):
        open_guarded(tmp_path / "q.ncirl")


def test_it_is_the_first_thing_that_is_read(
    solution: ncirl.GuardedSolution, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.ncirl"
    solution.save(path)
    assert main(["show", str(path)]) == 0
    shown = capsys.readouterr().out
    assert 0 <= shown.index("Apply now, once: leave g") < shown.index("What must I watch?")
    assert main(["verify", str(path)]) == 0
    assert "3 controls" in capsys.readouterr().out
    assert main(["report", str(path), "-o", str(tmp_path / "p.html"), "--time-limit", "5"]) == 0
    page = (tmp_path / "p.html").read_text()
    assert "Apply now, once: leave g" in page
    assert "What is applied once keeps" in page


def test_files_keep_openings_with_parts(tmp_path: Path) -> None:
    met = 0
    for seed in range(5000, 5020):
        instance = random_instance(seed, controlled=True, opened=True)
        if instance is None:
            continue
        found = policy(instance.proof)
        found.save(tmp_path / f"{seed}.ncirl")
        read = ncirl.load_solution(tmp_path / f"{seed}.ncirl")
        assert isinstance(read, ncirl.GuardedSolution)
        assert read.proof.opening == instance.proof.opening
        assert read.verify().upper == found.verify().upper
        met += bool(instance.proof.parts)
    assert met > 5


def test_a_session_applies_it_first_and_plays_on(solution: ncirl.GuardedSolution) -> None:
    session = GuardedSession(solution, rng=1)
    assert set(session.drawn_ids) == set(CUT)
    assert session.advice().blocked == dict.fromkeys(CUT, 1.0)
    assert any("applied now, once" in said for said in session.reasons().says)
    session.observe(attacker=["in g0"], defender=list(CUT), new=[])
    assert session.placed == set(CUT)
    assert session.drawn_ids == ()
    ahead = session._defender.ahead
    assert ahead is not None
    assert ahead == pytest.approx(np.zeros(3), abs=1e-9)


def test_a_session_that_did_not_apply_it_solves_again(solution: ncirl.GuardedSolution) -> None:
    session = GuardedSession(solution, rng=1)
    session.observe(attacker=["in g0"], defender="nothing", new=["g0"])
    assert set(session.drawn_ids) == set(CUT)
    session.observe(attacker=["g0 to h0"], defender=["leave g1"], new=["h0"])
    found = session.resolve(2.0, relative_gap=0.3)
    assert found.found.max() <= 1.05
    assert "leave g1" not in session.offered
    again = GuardedSession.from_dict(session.to_dict(), solution)
    assert (again.placed, again.drawn_ids) == (session.placed, session.drawn_ids)


def test_plays_keep_the_promise(solution: ncirl.GuardedSolution) -> None:
    for attacker in ("lifted", "informed", "random"):
        found = play(solution, attacker, episodes=6, rng=3)
        assert (found.least <= solution.per_intent + 1e-9).all()
    assert play(solution, "lifted", episodes=6, rng=3).means.max() > 0.2  # the opening is paid for


def test_what_stops_nothing_yet_waits_and_is_named() -> None:
    graph = AttackGraph(
        (Condition("out", True), Condition("in"), Condition("goal")),
        (Exploit("enter", ("out",), "in", 0.9), Exploit("take", ("in",), "goal", 0.9)),
        (Intent("t", 1.0, {"goal": 1.0}),),
        0.9,
        controls=(Control("lock", ("take",), 0.1, "lasting"),),
    )
    found = policy(proved(graph, [], [], ("lock",)))
    assert found.guards == {"lock": 0.0}
    why = why_nothing(found)
    assert why is not None
    assert why.later is not None
    assert (why.later.option, why.later.state, why.saves) == ("lock", "in", None)
    assert opening_data(found)["opening"]["says"].startswith("Apply once, before an intruder could use")
    session = GuardedSession(found, rng=1)
    assert (session.drawn_ids, session.offered) == ((), ("lock",))
    session.observe(attacker=["enter"], defender=["lock"], new=["in"])  # who applies it ahead may
    assert session.finished
    defender = found.defender(rng=1)
    assert defender.act() == frozenset()
    assert defender.ahead == pytest.approx([0.1])
    defender.observe(["enter"], [], ["in"])
    assert defender.act() == {"lock"}
    defender.observe(["take"], ["lock"], [])
    assert defender.ahead == pytest.approx([0.0])
