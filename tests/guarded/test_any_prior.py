"""A graph of any size whose prior nobody knows: the largest value is inside, and the promise holds at every prior."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

import ncirl
from guarded_instances import random_graph, with_controls
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.guarded import Guarded
from ncirl.attack_graphs.guarded.seen import Words
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.reductions import keep_ways, merge_equal_intents
from ncirl.attack_graphs.reductions.record import origin_of, with_prior
from ncirl.cli.app import main
from ncirl.errors import InputError
from ncirl.games.office import office_graph
from ncirl.model.priors import Priors
from ncirl.solution import Progress, Status

OFF = 1e-6
ROUGH = 0.05
FEW, MANY = range(3), range(3, 60)


def instance(seed: int) -> AttackGraph:
    """Draw a graph with two intents or more, by turns with controls, with bounds and without."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng)
    while len(graph.intents) < 2:
        graph = random_graph(rng)
    graph = with_controls(graph, rng) if seed % 3 == 0 else graph
    if seed % 2:
        return replace(graph, unknown_prior=True)
    ends = ((max(0.0, i.prior - 0.2), min(1.0, i.prior + 0.3)) for i in graph.intents)
    return replace(graph, intents=tuple(replace(i, between=b) for i, b in zip(graph.intents, ends, strict=True)))


def check(seed: int) -> None:
    graph = instance(seed)
    priors = graph.priors
    assert priors is not None
    found = Guarded(relative_gap=0.2, time_limit=4.0).run(graph)
    assert found.priors == priors
    assert found.upper == priors.most(found.per_intent)
    assert priors.contains(np.array([i.prior for i in found.graph.intents]))
    certificate = found.verify()
    assert certificate.holds, certificate.faults
    listed = ncirl.solve(graph, ncirl.WorstPrior(gap=0.0, relative_gap=ROUGH, time_limit=280))  # also if busy
    known = listed.priors
    assert known == priors
    assert found.lower <= known.most(listed.per_intent) + OFF
    assert found.upper >= listed.lower - OFF
    words = Words(graph)
    answer = ncirl.best_response_to_defender(words.game, found.lifted(words), tolerance=1e-7)
    assert (answer.per_intent <= found.per_intent + answer.error + OFF).all()


@pytest.mark.parametrize("seed", FEW)
def test_the_largest_value_is_inside_and_the_promise_holds(seed: int) -> None:
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY)
def test_the_same_on_many(seed: int) -> None:
    check(seed)


def two_ways() -> AttackGraph:
    """Return the office with what each of two intents may be."""
    office = office_graph()
    first, second, *rest = office.intents
    known = (replace(i, prior=0.1, between=None) for i in rest)
    return replace(
        office,
        intents=(
            replace(first, prior=0.3, between=(0.2, 0.5)),
            replace(second, prior=1.0 - 0.3 - 0.1 * len(rest), between=(0.0, 1.0)),
            *known,
        ),
    )


@pytest.fixture(scope="module")
def rough() -> GuardedSolution:
    return Guarded(relative_gap=0.5, time_limit=20.0).run(two_ways())


def test_it_is_kept_in_a_file_that_every_command_reads(
    rough: GuardedSolution, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rough.ncirl"
    rough.save(path)
    again = ncirl.load_solution(path)
    assert isinstance(again, GuardedSolution)
    assert again.priors == rough.priors
    assert main(["verify", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["worst"] == told["upper"] == rough.upper
    assert main(["show", str(path)]) == 0
    assert "whatever the prior within bounds" in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", StringIO("quit\n"))
    assert main(["defend", str(path), "--seed", "1"]) == 0
    assert "gets at most" in capsys.readouterr().out


def test_a_lie_about_the_priors_is_found(rough: GuardedSolution, tmp_path: Path) -> None:
    everything = Priors.all_of(len(rough.graph.intents))
    more = replace(rough, proof=replace(rough.proof, priors=everything))
    assert everything.most(rough.per_intent) > rough.upper + OFF
    assert not more.verify().holds
    intents = [intent.id for intent in rough.graph.intents]
    other = Priors.within({intents[0]: (0.9, 1.0)}, intents)
    assert any("prior:" in fault for fault in replace(rough, proof=replace(rough.proof, priors=other)).verify().faults)
    path = tmp_path / "rough.ncirl"
    replace(rough, proof=replace(rough.proof, priors=None)).save(path)
    assert not ncirl.verify(ncirl.load_solution(path)).faults  # for that prior alone it concedes no more


def test_solve_guards_where_the_states_are_too_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, made = tmp_path / "office.yaml", tmp_path / "worst.ncirl"
    office_graph().save(path)
    asked = ["solve", str(path), "--prior", "worst", "--solver", "guarded", "--gap", "60%", "--time-limit", "20"]
    assert main([*asked, "-q", "--json", "-o", str(made)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["priors"] == "worst"
    assert told["upper"] == told["worst"] == max(told["per_intent"].values())
    assert main(["verify", str(made)]) == 0


def test_an_interruption_leaves_a_proof() -> None:
    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    found = Guarded(relative_gap=0.0, time_limit=60.0).run(replace(office_graph(), unknown_prior=True), progress=stop)
    assert found.status is Status.INTERRUPTED
    assert found.verify().holds


def test_a_graph_that_gets_nobody_anywhere_is_worth_nothing() -> None:
    graph = replace(office_graph(), exploits=(), unknown_prior=True)
    found = Guarded(time_limit=10.0).run(graph)
    assert (found.lower, found.upper) == (0.0, 0.0)
    assert found.verify().holds


def test_a_prior_that_is_told_is_told_of_the_original_too() -> None:
    smaller, _ = keep_ways(office_graph(), 1)
    told = with_prior(smaller, [0.1, 0.2, 0.3, 0.4])
    origin = origin_of(told)
    assert origin is not None
    assert [intent.prior for intent in origin.graph.intents] == [0.1, 0.2, 0.3, 0.4]
    each = [replace(intent, prior=0.125) for intent in office_graph().intents]
    twins = (*each, *(replace(intent, id=f"{intent.id} again") for intent in each))
    merged, _ = merge_equal_intents(replace(office_graph(), intents=twins))
    origin = origin_of(with_prior(merged, [0.1, 0.2, 0.3, 0.4]))
    assert origin is not None
    assert [intent.prior for intent in origin.graph.intents] == [0.1, 0.2, 0.3, 0.4, 0.0, 0.0, 0.0, 0.0]
    forged = replace(smaller, origin=replace(origin_of(smaller), graph=office_graph(), steps=()))
    with pytest.raises(InputError, match="look for the worst prior on the original"):
        with_prior(forged, [0.1, 0.2, 0.3, 0.4])
