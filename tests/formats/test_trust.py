"""A certificate that cannot lie: every way in which one once did, and numbers that must not matter."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import ncirl
from forging import Forged, write_entries
from ncirl.cli import main
from ncirl.errors import InputError, SizeError
from ncirl.formats.graph_source import extra_of, graph_of
from ncirl.formats.policy_file import load_policy, open_policy
from ncirl.games.office import office_graph
from ncirl.model.game import Game, Start
from ncirl.model.stage import Branch, Outcome, Stage
from ncirl.playbook.solution import CertifiedSolution
from ncirl.playbook.verify import verify
from ncirl.solvers.certified.certified import Certified
from random_games import random_game

BAD_INPUT = 2


@pytest.fixture(scope="module")
def patrol() -> CertifiedSolution:
    return ncirl.solve(ncirl.games.patrol(horizon=3), Certified())


@pytest.fixture(scope="module")
def office() -> CertifiedSolution:
    return ncirl.solve(ncirl.games.office(), Certified(relative_gap=0.05, time_limit=20))


@pytest.fixture(scope="module")
def long_match() -> CertifiedSolution:
    return ncirl.solve(ncirl.games.big_match(discount=0.9999), Certified(relative_gap=0.1, time_limit=20))


@pytest.fixture
def patrol_file(patrol: CertifiedSolution, tmp_path: Path) -> Path:
    patrol.save(tmp_path / "patrol.ncirl")
    return tmp_path / "patrol.ncirl"


@pytest.fixture
def office_file(office: CertifiedSolution, tmp_path: Path) -> Path:
    office.save(tmp_path / "office.ncirl", extra=extra_of(office_graph()))
    return tmp_path / "office.ncirl"


def twice(forged: Forged, factor: float) -> None:
    """List every start twice, first with more mass than there is."""
    masses = forged.arrays["start_mass"]
    forged.arrays["start_state"] = np.tile(forged.arrays["start_state"], 2)
    forged.arrays["start_mass"] = np.vstack([factor * masses, masses])
    for side, scaled in (("attacker", factor), ("defender", 1.0)):
        weights = forged.arrays[f"{side}_start_weights"]
        forged.arrays[f"{side}_start_counts"] = np.tile(forged.arrays[f"{side}_start_counts"], 2)
        forged.arrays[f"{side}_start_nodes"] = np.tile(forged.arrays[f"{side}_start_nodes"], 2)
        forged.arrays[f"{side}_start_weights"] = np.concatenate([scaled * weights, weights])


def test_starts_listed_twice_are_refused(patrol_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forged = Forged(patrol_file)
    twice(forged, 9.0)
    forged.header["lower"] *= 10
    forged.header["upper"] *= 10
    path = forged.write(tmp_path / "forged.ncirl")
    with pytest.raises(InputError, match="a state is listed twice"):
        load_policy(path)
    assert main(["verify", str(path)]) == BAD_INPUT
    assert "start_state" in capsys.readouterr().err


def test_start_with_more_mass_than_there_is_is_refused(office_file: Path, tmp_path: Path) -> None:
    """A terminal start counts for nothing, but it made every other look unlikely."""
    forged = Forged(office_file)
    over = int(np.flatnonzero(forged.arrays["stages"][:, 0] == 0)[0])
    forged.arrays["start_state"] = np.append(forged.arrays["start_state"], over)
    extra = np.zeros((1, forged.arrays["start_mass"].shape[1]))
    forged.arrays["start_mass"] = np.vstack([forged.arrays["start_mass"], extra + 1e9])
    for side in ("attacker", "defender"):
        forged.arrays[f"{side}_start_counts"] = np.append(forged.arrays[f"{side}_start_counts"], 0)
    with pytest.raises(InputError, match="start_mass"):
        load_policy(forged.write(tmp_path / "forged.ncirl"))


@pytest.mark.parametrize("factor", [9.0, 1.0 + 1e-6, 1.0 - 1e-6, 0.0, -1.0, np.nan])
def test_prior_that_is_none_is_found_in_memory_too(patrol: CertifiedSolution, factor: float) -> None:
    starts = [Start(start.state, factor * start.mass) for start in patrol.game.starts]
    found = verify(replace(patrol, game=patrol.game.like(starts=starts)))
    assert any(fault.startswith("prior") for fault in found.faults)
    assert (found.lower, found.upper) == (-np.inf, np.inf)


def with_action(game: Game, name: str, reward: float, *, attacker: bool) -> Game:
    """Give one player another action everywhere, which does what the first one does for another reward."""

    def stage(state: object) -> Stage:
        old = game.stage(state)
        if old.is_terminal:
            return old
        n_a, n_d = old.shape
        rows = np.arange(n_a * n_d).reshape(n_a, n_d)
        rows = np.vstack([rows, rows[:1]]) if attacker else np.hstack([rows, rows[:, :1]])
        pair = old.reward.reshape(n_a * n_d, -1)[rows].copy()
        pair[-1 if attacker else slice(None), slice(None) if attacker else -1] = reward
        names = (*old.attacker, name) if attacker else old.attacker
        others = old.defender if attacker else (*old.defender, name)
        return Stage(names, others, old.outcomes, sp.csr_array(old.law[rows.ravel()]), pair=pair)

    return game.like(stage=stage)


@pytest.fixture(scope="module", params=["actions", "outcomes"])
def plain(request: pytest.FixtureRequest) -> CertifiedSolution:
    game = random_game(3, observes=request.param, horizon=None, n_intents=2)
    return ncirl.solve(game, Certified(gap=1e-3, time_limit=20))


@pytest.mark.parametrize(("attacker", "reward"), [(True, -1e9), (False, 1e9), (False, 1e6)])
def test_reward_that_plays_no_part_allows_no_claim(plain: CertifiedSolution, attacker: bool, reward: float) -> None:
    game = with_action(plain.game, "never", reward, attacker=attacker)
    solution = ncirl.solve(game, Certified(gap=1e-3, time_limit=20))
    found = verify(solution)
    assert found.holds
    assert found.upper - found.lower <= 1e-3
    assert max(found.lower, plain.lower) <= min(found.upper, plain.upper)
    assert max(found.lower_allowance, found.upper_allowance) < 1e-10
    for better in (1e-9, 0.1, 500.0):
        assert not verify(replace(solution, lower=found.lower + better, upper=np.inf)).holds
        assert not verify(replace(solution, upper=found.upper - better, lower=-np.inf)).holds


def test_prohibitive_cost_is_no_licence(tmp_path: Path) -> None:
    """An honest graph: one block costs a million, so nobody blocks there."""
    graph = office_graph()
    dear = replace(graph, exploits=[replace(e, block_cost=1e6) if k == 0 else e for k, e in enumerate(graph.exploits)])
    solution = ncirl.solve(dear.game(), Certified(relative_gap=0.05, time_limit=30))
    assert solution.gap <= 0.05 * solution.upper
    solution.save(tmp_path / "dear.ncirl")
    forged = Forged(tmp_path / "dear.ncirl")
    for key, by in (("lower", 1e-6), ("upper", -1e-6)):
        changed = forged.copy()
        changed.header[key] += by
        assert not verify(load_policy(changed.write(tmp_path / f"{key}.ncirl"))).holds


def test_what_is_shown_was_recomputed(office_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    honest = load_policy(office_file)
    modest = Forged(office_file)  # it claims less than it proves: that holds, and is not what is shown
    modest.header["lower"], modest.header["upper"] = -1.0, 100.0
    modest.arrays["defender_claims"] += 50.0
    path = modest.write(tmp_path / "modest.ncirl")
    assert main(["show", str(path), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["policy"]
    assert (shown["lower"], shown["upper"]) == pytest.approx((honest.lower, honest.upper), abs=1e-9)
    assert list(shown["per_intent"].values()) == pytest.approx(honest.per_intent.tolist(), abs=1e-9)
    bold = Forged(office_file)
    bold.header["upper"] -= 0.5
    path = bold.write(tmp_path / "bold.ncirl")
    for command in (["show", str(path)], ["simulate", str(path), "--episodes", "2"], ["defend", str(path)]):
        assert main(command) == BAD_INPUT
        assert "its certificate does not hold" in capsys.readouterr().err


def test_graph_of_another_game_is_not_used(office_file: Path, tmp_path: Path) -> None:
    assert graph_of(open_policy(office_file)) is not None
    forged = Forged(office_file)
    for part in ("pair", "by_outcome", "by_branch", "attacker_claims", "defender_claims"):
        forged.arrays[part] *= 0.125
    forged.header["lower"] *= 0.125
    forged.header["upper"] *= 0.125
    scaled = open_policy(forged.write(tmp_path / "scaled.ncirl"))
    assert graph_of(scaled) is None


@pytest.mark.parametrize("off", [0.99e-6, -0.99e-6, 2e-9])
def test_sums_that_are_nearly_one_are_refused(patrol_file: Path, tmp_path: Path, off: float) -> None:
    for array in ("start_mass", "law"):
        forged = Forged(patrol_file)
        forged.arrays[array] *= 1 + off
        with pytest.raises(InputError, match=f"array '{array}'"):
            load_policy(forged.write(tmp_path / "forged.ncirl"))


@pytest.mark.parametrize("off", [9.9e-13, -9.9e-13, 9e-10])
@pytest.mark.parametrize("array", ["start_mass", "law", "defender_mixes", "attacker_policies", "attacker_beliefs"])
def test_sums_that_are_more_nearly_one_change_nothing(
    long_match: CertifiedSolution, tmp_path: Path, array: str, off: float
) -> None:
    long_match.save(tmp_path / "honest.ncirl")
    forged = Forged(tmp_path / "honest.ncirl")
    forged.arrays[array] *= 1 + off
    found = verify(replace(load_policy(forged.write(tmp_path / "forged.ncirl")), lower=-np.inf, upper=np.inf))
    honest = verify(long_match)
    assert found.lower <= honest.lower + honest.lower_allowance
    assert found.upper >= honest.upper - honest.upper_allowance
    assert (found.lower, found.upper) == pytest.approx((honest.lower, honest.upper), abs=1e-6)


def twins(distinct: bool) -> Game:
    """Outcomes 0 and 1 are the same to anybody who looks, unless signals tell them apart."""
    outcomes = (Outcome("s", "x" if distinct else None), Outcome("s", "y" if distinct else None))
    law = sp.csr_array(np.repeat(np.eye(2), 2, axis=0))  # the attacker's action decides which
    pair = np.array([[[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]]])  # as in Aumann and Maschler's game
    stage = Stage(("T", "B"), ("L", "R"), outcomes, law, pair=pair)
    return Game(
        lambda _: stage, intents=["1", "2"], initial={"s": [0.5, 0.5]}, discount=0.9, observes="outcomes", name="twins"
    )


def test_outcomes_that_nobody_can_tell_apart_are_one() -> None:
    assert len(twins(distinct=False).stage("s").outcomes) == 1
    assert len(twins(distinct=True).stage("s").outcomes) == 2
    hidden = ncirl.solve(twins(distinct=False), Certified(gap=1e-3, time_limit=20))
    seen = ncirl.solve(twins(distinct=True), Certified(gap=1e-2, time_limit=20))
    moves = {
        (a, d): [Branch("s", 1.0, pay)]
        for a, d, pay in (("T", "L", (1, 0)), ("T", "R", (0, 0)), ("B", "L", (0, 0)), ("B", "R", (0, 1)))
    }
    one = Stage.from_moves(["T", "B"], ["L", "R"], moves, 2)
    plain = Game(lambda _: one, intents=["1", "2"], initial={"s": [0.5, 0.5]}, discount=0.9, observes="outcomes")
    assert hidden.lower == pytest.approx(ncirl.solve(plain, Certified(gap=1e-3, time_limit=20)).lower, abs=2e-3)
    assert hidden.lower > seen.upper + 0.1


def test_pooled_outcomes_keep_probabilities_and_rewards() -> None:
    rng = np.random.default_rng(1)
    outcomes = tuple(Outcome(s) for s in ("x", "y", "x", "x"))
    law = sp.csr_array(rng.dirichlet(np.ones(4), 4) * [1, 1, 0, 1])
    law = sp.csr_array(law / law.sum(axis=1)[:, None])
    stage = Stage(
        ("a", "b"), ("c", "d"), outcomes, law, rng.normal(size=(2, 2, 3)), rng.normal(size=(4, 3)),
        rng.normal(size=(law.nnz, 3)),
    )  # fmt: skip
    pooled = stage.pooled()
    assert [o.state for o in pooled.outcomes] == ["x", "y"]
    assert pooled.law.toarray()[:, 0] == pytest.approx(law.toarray()[:, [0, 2, 3]].sum(axis=1))
    assert pooled.reward == pytest.approx(stage.reward)


def test_outcomes_listed_twice_in_a_file_are_refused(patrol_file: Path, tmp_path: Path) -> None:
    forged = Forged(patrol_file)
    first = int(forged.arrays["stages"][0, 2])
    assert first > 1
    forged.arrays["outcome_state"][:first] = forged.arrays["outcome_state"][0]
    with pytest.raises(InputError, match="two outcomes that are the same"):
        load_policy(forged.write(tmp_path / "forged.ncirl"))


def test_move_that_leads_to_an_outcome_twice_is_refused(tmp_path: Path) -> None:
    ncirl.solve(random_game(1, horizon=2), Certified()).save(tmp_path / "honest.ncirl")
    forged = Forged(tmp_path / "honest.ncirl")
    wide = int(np.flatnonzero(forged.arrays["law_row"] > 1)[0])
    at = int(forged.arrays["law_row"][:wide].sum())
    forged.arrays["law_outcome"][at + 1] = forged.arrays["law_outcome"][at]
    with pytest.raises(InputError, match="same outcome twice"):
        load_policy(forged.write(tmp_path / "forged.ncirl"))


MANY = "9" * 400


@pytest.mark.parametrize("place", ["lower", "upper", "seed", "game.discount", "game.horizon"])
@pytest.mark.parametrize("text", [MANY, f"-{MANY}", f"{MANY}.0", "1e999", "NaN", "Infinity", "true", '"1"'])
def test_crafted_numbers_get_one_sentence(
    patrol_file: Path, tmp_path: Path, place: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    forged = Forged(patrol_file)
    marker = 123456789.25
    inner = forged.header["game"] if place.startswith("game.") else forged.header
    inner[place.removeprefix("game.")] = marker
    header = json.dumps(forged.header).replace(str(marker), text).encode()
    path = write_entries(tmp_path / "forged.ncirl", forged.entries(header))
    told = main(["verify", str(path)])
    assert told == (0 if place == "seed" and text in (MANY, f"-{MANY}") else BAD_INPUT)
    assert len(capsys.readouterr().err.splitlines()) == (0 if told == 0 else 1)


@pytest.mark.parametrize("shape", ["(0, 549755813888, 549755813888)", "(True,)", "(-1,)", "(1.0,)", "(2,)", "('1',)"])
def test_crafted_shapes_get_one_sentence(
    patrol_file: Path, tmp_path: Path, shape: str, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = Forged(patrol_file).entries()
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (118 - 1 - len(text)) + b"\n"
    entries["pair.npy"] = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + b"\0" * 8
    path = write_entries(tmp_path / "forged.ncirl", entries)
    assert main(["verify", str(path)]) == BAD_INPUT
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("shape", [(0, 2**39, 2**39), (2**39, 0, 1), (1, 1, 7), (3, 1, 1), (-1, -1, 1)])
def test_shapes_of_rewards_that_fit_nothing_are_refused(
    patrol_file: Path, tmp_path: Path, shape: tuple[int, int, int]
) -> None:
    forged = Forged(patrol_file)
    forged.arrays["stages"][0, 4:7] = shape
    with pytest.raises(InputError, match=r"stages|fit together"):
        load_policy(forged.write(tmp_path / "forged.ncirl"))


def test_keys_written_twice_are_refused(patrol_file: Path, tmp_path: Path) -> None:
    forged = Forged(patrol_file)
    header = json.dumps(forged.header).replace('"lower":', '"lower": 0.0, "lower":', 1).encode()
    with pytest.raises(InputError, match="header: key 'lower' appears twice"):
        load_policy(write_entries(tmp_path / "forged.ncirl", forged.entries(header)))


def test_opened_policies_carry_what_was_found(office_file: Path) -> None:
    loaded, opened = load_policy(office_file), open_policy(office_file)
    found = verify(loaded)
    assert isinstance(opened, CertifiedSolution)
    assert (opened.lower, opened.upper) == (found.lower, found.upper)
    assert np.array_equal(opened.attacker_playbook.claims, found.attacker_values)
    assert np.array_equal(opened.defender_playbook.claims, found.defender_values)
    assert verify(opened).holds


@pytest.mark.parametrize("discount", [1 - 1e-14, 1 - 2.0**-53])
def test_where_nothing_can_be_proved_nothing_holds(discount: float) -> None:
    game = ncirl.games.big_match(discount=0.9)
    solution = ncirl.solve(game, Certified(gap=0.1))
    slow = replace(solution, game=game.like(discount=discount), lower=1e20, upper=-1e20)
    found = verify(slow)
    assert not found.holds
    assert (found.lower, found.upper) == (-np.inf, np.inf)
    assert any("nothing can be proved" in fault for fault in found.faults)
    assert not verify(replace(slow, lower=-np.inf, upper=np.inf)).holds


def test_move_that_is_never_made_changes_nothing(patrol_file: Path, tmp_path: Path) -> None:
    """A share of 0 leads a mass of 0 astray, not everything."""
    forged = Forged(patrol_file)
    rows = forged.arrays["attacker_move_row"]
    places = forged.arrays["attacker_state"]
    other = np.setdiff1d(np.arange(len(places)), forged.arrays["attacker_move_node"][rows == rows[0]])[0]
    for part, value in (("row", rows[0]), ("node", other), ("weight", 0.0)):
        array = forged.arrays[f"attacker_move_{part}"]
        forged.arrays[f"attacker_move_{part}"] = np.append(array, value).astype(array.dtype)
    found, honest = verify(load_policy(forged.write(tmp_path / "forged.ncirl"))), verify(load_policy(patrol_file))
    assert found.holds
    assert found.lower == pytest.approx(honest.lower, abs=1e-12)


@pytest.mark.parametrize("side", ["attacker", "defender"])
def test_moves_and_nodes_listed_twice_are_refused(patrol_file: Path, tmp_path: Path, side: str) -> None:
    for parts in (("move_row", "move_node", "move_weight"), ("start_nodes", "start_weights")):
        forged = Forged(patrol_file)
        for part in parts:
            array = forged.arrays[f"{side}_{part}"]
            forged.arrays[f"{side}_{part}"] = np.insert(array, 0, array[0])
        if parts[0] == "start_nodes":
            forged.arrays[f"{side}_start_counts"][0] += 1
        with pytest.raises(InputError, match="listed twice"):
            load_policy(forged.write(tmp_path / "forged.ncirl"))


def test_bound_is_enclosed_where_strays_may_lose_what_cancels() -> None:
    """Two rewards of 1e12 that cancel, at a place hardly ever met: the exact bound still lies in the enclosure."""
    far = Stage(
        ("a",), ("d",), (Outcome("far"),), sp.csr_array([[1.0]]),
        pair=np.full((1, 1, 2), 1e12), outcome=np.full((1, 2), -1e12),
    )  # fmt: skip
    near = Stage(
        ("a", "b"), ("d",), (Outcome("near"), Outcome("far")), sp.csr_array([[1 - 1e-9, 1e-9], [1.0, 0.0]]),
        pair=np.array([[[1.0, 0.0]], [[0.0, 1.0]]]),
    )  # fmt: skip
    game = Game({"near": near, "far": far}.__getitem__, intents=["1", "2"], initial={"near": [0.5, 0.5]}, discount=0.5)
    solution = ncirl.solve(game, Certified(gap=1e-3, time_limit=10))
    found = verify(solution)
    assert found.holds
    assert found.lower_allowance >= 0
    assert not verify(replace(solution, lower=found.lower + 1.1 * found.lower_allowance + 1e-15)).holds


def test_signal_listed_twice_is_refused(tmp_path: Path) -> None:
    game = random_game(2, observes="outcomes", signals=True, horizon=2)
    ncirl.solve(game, Certified()).save(tmp_path / "honest.ncirl")
    forged = Forged(tmp_path / "honest.ncirl")
    forged.header["game"]["signals"] += forged.header["game"]["signals"][:1]
    with pytest.raises(InputError, match="a signal appears twice"):
        load_policy(forged.write(tmp_path / "forged.ncirl"))


@pytest.mark.parametrize("claim", [1e30, 1e100, 1e300])
@pytest.mark.parametrize("name", ["patrol", "big-match"])
def test_modest_claims_widen_nothing(patrol: CertifiedSolution, name: str, claim: float) -> None:
    """Node claims are where the search for values begins; however far off, they leave no room for false ones."""
    solution = patrol if name == "patrol" else ncirl.solve(ncirl.games.big_match(), Certified(gap=0.01))
    attacker, defender = solution.attacker_playbook, solution.defender_playbook
    modest = replace(
        solution,
        attacker_playbook=replace(attacker, claims=np.full_like(attacker.claims, -claim)),
        defender_playbook=replace(defender, claims=np.full_like(defender.claims, claim)),
    )
    found, honest = verify(modest), verify(solution)
    assert found.holds
    assert (found.lower, found.upper) == pytest.approx((honest.lower, honest.upper), abs=1e-10)
    assert found.lower_allowance <= 10 * honest.lower_allowance
    assert not verify(replace(modest, lower=100.0, upper=100.0)).holds


HEADERS = ["{'descr': (), }", "{'descr': ('<f8',), }", "{[]: 1}", "-" * 9000, "{'descr': '<f8'", "(", "\\"]


@pytest.mark.parametrize("header", HEADERS, ids=range(len(HEADERS)))
@pytest.mark.parametrize("entry", ["law.npy", "header.npy"])
def test_headers_of_arrays_are_not_evaluated(patrol_file: Path, tmp_path: Path, header: str, entry: str) -> None:
    entries = Forged(patrol_file).entries()
    text = header.encode() + b"\n"
    entries[entry] = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
    with pytest.raises(InputError):
        load_policy(write_entries(tmp_path / "forged.ncirl", entries))


def test_stage_that_unfolds_into_too_much_is_refused(tmp_path: Path) -> None:
    stage = Stage.from_moves(["a"], ["d"], {("a", "d"): [Branch("s")]}, 1)
    game = Game(lambda _: stage, intents=["t"], initial={"s": [1.0]}, discount=0.5)
    ncirl.solve(game, Certified()).save(tmp_path / "honest.ncirl")
    forged, many = Forged(tmp_path / "honest.ncirl"), 40_000
    forged.header["game"]["intents"] = [str(k) for k in range(many)]
    forged.header["game"]["attacker"] = [str(k) for k in range(many)]
    forged.arrays["start_mass"] = np.full((1, many), 1 / many)
    forged.arrays["stages"][0] = (many, 1, 1, many, 1, 1, 1, 0, 0)
    forged.arrays["pair"], forged.arrays["by_branch"] = np.zeros(1), np.zeros(0)
    for name, value in (("law", 1.0), ("law_outcome", 0), ("law_row", 1)):
        forged.arrays[name] = np.full(many, value)
    with pytest.raises(SizeError, match="combinations of actions"):
        load_policy(forged.write(tmp_path / "forged.ncirl"))


def test_numbers_per_intent_are_those_that_were_proved(office_file: Path, tmp_path: Path) -> None:
    forged = Forged(office_file)
    forged.arrays["defender_start_weights"] *= 1 - 9.9e-10
    opened = open_policy(forged.write(tmp_path / "forged.ncirl"))
    proved = verify(opened).per_intent  # again, from what was proved: the last digit may be another
    np.testing.assert_allclose(opened.per_intent, proved, rtol=4 * np.finfo(np.float64).eps, atol=0.0)
