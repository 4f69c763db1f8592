"""From a draft to a graph: what is dropped, merged, assumed and defaulted, and that the report says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from ncirl.attack_graphs.origins import said_of
from ncirl.errors import InputError
from ncirl.importers import Draft, Imported, ImportOptions, finish
from ncirl.importers.defaults import SUCCESS
from ncirl.importers.names import unique_ids
from ncirl.importers.report import Origin
from ncirl.model.stage import LARGEST_REWARD


def chain(*, initial: bool = True) -> Draft:
    """Outside leads to web, web to db."""
    draft = Draft("sketch")
    draft.condition("outside", initial=initial)
    draft.condition("web", label="web server")
    draft.condition("db", label="data base")
    draft.exploit("phish", needs=["outside"], gives="web", success=0.3, attack_cost=0.1)
    draft.exploit("dump", needs=["web"], gives="db", block_cost=0.2)
    return draft


def noted(imported: Imported, kind: str) -> list[str]:
    return [str(note) for note in imported.report.notes if note.kind == kind]


def test_what_is_said_is_kept_and_the_rest_defaulted() -> None:
    imported = chain().finish(ImportOptions(success=0.6, attack_cost=0.5, block_cost=0.4, discount=0.9, horizon=3))
    phish, dump = imported.graph.exploits
    assert (phish.success, phish.attack_cost, phish.block_cost) == (0.3, 0.1, 0.4)
    assert (dump.success, dump.attack_cost, dump.block_cost) == (0.6, 0.5, 0.2)
    assert (imported.graph.discount, imported.graph.horizon) == (0.9, 3)
    assert {name: found.count for name, found in imported.report.defaulted.items()} == {
        "success": 1,
        "attack_cost": 1,
        "block_cost": 1,
    }
    assert "success 0.6 (1 exploit)" in str(imported.report)


def test_steps_keep_all_they_need() -> None:
    draft = chain()
    draft.condition("key", initial=True)
    draft.exploit("both", needs=["web", "key", "web"], gives="db")
    both = draft.finish().graph.exploits[2]
    assert both.premises == ("web", "key")


def test_facts_are_folded_into_the_start() -> None:
    draft = chain()
    draft.fact("hole")
    draft.exploit("slip", needs=["hole"], gives="db")
    imported = draft.finish()
    assert imported.graph.exploits[2].premises == ()
    assert [condition.id for condition in imported.graph.conditions] == ["outside", "web", "db"]
    assert imported.report.facts == 1


@pytest.mark.parametrize(
    ("needs", "gives", "success", "said"),
    [
        (["web", "ghost"], "db", None, "steps with a condition that is not in the file: odd (ghost)"),
        (["web"], "ghost", None, "steps with a condition that is not in the file: odd (ghost)"),
        (["web", "db"], "db", None, "steps that need their own result: odd"),
        (["web"], "outside", None, "steps whose result holds from the start: odd"),
        (["web"], "db", 0.0, "steps that never succeed: odd"),
        (["island"], "db", None, "steps that cannot be reached from the start: odd"),
    ],
)
def test_steps_that_can_never_be_taken_are_dropped(
    needs: list[str], gives: str, success: float | None, said: str
) -> None:
    draft = chain()
    draft.condition("island")
    draft.exploit("odd", needs=needs, gives=gives, success=success)
    imported = draft.finish()
    assert [exploit.id for exploit in imported.graph.exploits] == ["phish", "dump"]
    assert said in noted(imported, "dropped")
    assert "conditions that cannot be reached from the start: island" in noted(imported, "dropped")


def test_cycles_are_kept_and_counted() -> None:
    draft = chain()
    draft.exploit("back", needs=["db"], gives="web")
    imported = draft.finish(ImportOptions(goals=("db",)))
    assert len(imported.graph.exploits) == 3
    assert imported.report.cycles == 1


def test_a_cycle_that_only_feeds_itself_is_out_of_reach() -> None:
    draft = chain()
    for here, there in (("x", "y"), ("y", "x")):
        draft.condition(here)
        draft.exploit(f"{here}{there}", needs=[here], gives=there)
    assert [condition.id for condition in draft.finish().graph.conditions] == ["outside", "web", "db"]


@pytest.mark.parametrize("merge", [True, False])
def test_parallel_steps_are_one_where_that_is_asked(merge: bool) -> None:
    draft = chain()
    draft.fact("hole")
    draft.exploit("dump2", needs=["web", "hole"], gives="db", success=0.9)
    draft.exploit("dump3", needs=["web"], gives="db", success=0.7)
    imported = draft.finish(ImportOptions(merge=merge))
    ids = [exploit.id for exploit in imported.graph.exploits]
    assert ids == (["phish", "dump or dump2 or dump3"] if merge else ["phish", "dump", "dump2", "dump3"])
    assert [note.endswith("dump or dump2 or dump3") for note in noted(imported, "merged")] == [True] * merge


def test_steps_from_different_places_are_not_parallel() -> None:
    draft = chain()
    draft.condition("office", initial=True)
    draft.exploit("walk", needs=["office"], gives="web")
    assert len(draft.finish().graph.exploits) == 3


def test_numbers_out_of_range_are_not_used() -> None:
    draft = chain()
    draft.exploit("odd", needs=["web"], gives="outside2", success=80.0, attack_cost=-1.0)
    draft.condition("outside2")
    imported = draft.finish()
    assert imported.graph.exploits[2].success == SUCCESS
    assert [note.split(" is not used")[0] for note in noted(imported, "defaulted")] == [
        "success outside [0, 1]",
        f"attack_cost outside [0, {LARGEST_REWARD:g}]",
    ]


def test_goals_are_guessed_and_that_is_said() -> None:
    imported = chain().finish()
    assert imported.report.goals == ("db",)
    assert "guessed" in imported.report.intents_from
    assert noted(imported, "assumed") == ["guessed as a goal, as no step needs it: db"]


@pytest.mark.parametrize("name", ["web", "web server"])
def test_goals_are_found_by_id_and_label(name: str) -> None:
    imported = chain().finish(ImportOptions(goals=(name, "db"), goal_reward=3.0))
    assert [(i.id, i.prior, i.rewards) for i in imported.graph.intents] == [
        ("web", 0.5, {"web": 3.0}),
        ("db", 0.5, {"db": 3.0}),
    ]


def test_goals_of_the_source_come_before_guesses_and_may_have_a_worth() -> None:
    draft = chain()
    draft.goal("web", reward=7.0)
    draft.goal("outside")
    imported = draft.finish()
    assert [intent.rewards for intent in imported.graph.intents] == [{"web": 7.0}]
    assert "goals that the intruder has from the start: outside" in noted(imported, "dropped")


def test_intents_of_the_source_come_before_its_goals() -> None:
    draft = chain()
    draft.goal("web")
    draft.reward("thief", "db", 2.0)
    draft.reward("vandal", "web", 1.0)
    intents = draft.finish().graph.intents
    assert [(i.id, i.prior, i.rewards) for i in intents] == [("thief", 0.5, {"db": 2.0}), ("vandal", 0.5, {"web": 1.0})]


@pytest.mark.parametrize(
    ("goals", "essence"),
    [
        (("wbe",), "goal 'wbe': no condition is called so; do you mean web"),
        (("island",), "goal 'island': cannot be reached from the start"),
        (
            ("outside",),
            r"goal 'outside': the intruder has it from the start \(it begins there\)",
        ),
        (("twin",), "goal 'twin': 2 conditions are called so; give an id: t1, t2"),
    ],
)
def test_goals_that_make_no_sense_are_refused(goals: tuple[str, ...], essence: str) -> None:
    draft = chain()
    draft.condition("island")
    draft.condition("t1", label="twin")
    draft.condition("t2", label="twin")
    with pytest.raises(InputError, match=essence):
        draft.finish(ImportOptions(goals=goals))


def test_where_every_condition_leads_on_the_candidates_are_listed() -> None:
    draft = chain()
    draft.exploit("back", needs=["db"], gives="web")
    with pytest.raises(InputError, match=r"no goal can be guessed.*--goal.*data base \(2 steps away\), web server"):
        draft.finish()
    draft.guess_goal("web", "of a whim")
    assert draft.finish().report.goals == ("web",)


def test_no_more_than_five_goals_are_guessed_the_deepest() -> None:
    draft = chain()
    for number in range(8):
        draft.condition(f"end{number}")
        draft.exploit(f"e{number}", needs=["outside" if number < 4 else "web"], gives=f"end{number}")
    goals = draft.finish().report.goals
    assert set(goals) == {"db", "end4", "end5", "end6", "end7"}


def test_where_nothing_holds_the_sources_are_taken_and_that_is_said() -> None:
    imported = chain(initial=False).finish()
    assert imported.report.initial == ("outside",)
    assert "nothing is known to hold from the start" in noted(imported, "assumed")[0]


def test_where_nothing_can_begin_a_beginning_is_asked_for() -> None:
    draft = Draft("ring")
    for here, there in (("x", "y"), ("y", "x")):
        draft.condition(here)
        draft.exploit(f"{here}{there}", needs=[here], gives=there)
    with pytest.raises(InputError, match="nothing holds from the start; name where attackers begin with --initial"):
        draft.finish()
    assert draft.finish(ImportOptions(initial=("x",))).report.goals == ("y",)


def test_nothing_left_is_refused_with_the_reasons() -> None:
    with pytest.raises(InputError, match="has no attack step"):
        Draft("empty").finish()
    draft = Draft("loop")
    draft.condition("x", initial=True)
    draft.exploit("self", needs=["x"], gives="x")
    with pytest.raises(InputError, match=r"no attack step is left[^$]*need their own result: self"):
        draft.finish()


def test_finishing_twice_gives_the_same() -> None:
    draft = chain(initial=False)
    assert draft.finish() == draft.finish()


@pytest.mark.parametrize(
    ("content", "rewards", "prior"),
    [
        ("- {id: thief, rewards: {data base: 2}}\n- {id: vandal, rewards: {web: 1}}", {"db": 2.0}, 0.5),
        ("intents:\n- {id: thief, prior: 1, rewards: {db: 2, web: 0.5}}", {"db": 2.0, "web": 0.5}, 1.0),
    ],
)
def test_intents_come_from_a_file(content: str, rewards: dict[str, float], prior: float, tmp_path: Path) -> None:
    path = tmp_path / "intents.yaml"
    path.write_text(content)
    imported = chain().finish(ImportOptions(intents=path))
    assert (imported.graph.intents[0].rewards, imported.graph.intents[0].prior) == (rewards, prior)
    assert str(path) in imported.report.intents_from


@pytest.mark.parametrize(
    ("content", "essence"),
    [
        ("{}", "must be a list of intents"),
        ("- {id: thief}", r"\[0\].rewards: is missing"),
        ("- {id: a, prior: 0.5, rewards: {db: 1}}\n- {id: b, rewards: {db: 1}}", "every intent a prior, or none"),
        ("- {id: a, prior: 0.5, rewards: {db: 1}}", "priors sum to 0.5, not 1"),
        ("- {id: a, rewards: {dbb: 1}}", "condition 'dbb': no condition is called so; do you mean db"),
    ],
)
def test_malformed_intents_are_refused(content: str, essence: str, tmp_path: Path) -> None:
    path = tmp_path / "intents.yaml"
    path.write_text(content)
    with pytest.raises(InputError, match=essence):
        chain().finish(ImportOptions(intents=path))


@pytest.mark.parametrize(
    ("changes", "essence"),
    [
        ({"success": 0.0}, "success: must lie in"),
        ({"block_cost": -1.0}, "block_cost: must lie in"),
        ({"goal_reward": float("nan")}, "goal_reward"),
        ({"goals": ("a",), "intents": "b"}, "one or the other"),
        ({"size_limit": 0}, "size_limit"),
    ],
)
def test_options_that_make_no_sense_are_refused(changes: dict[str, object], essence: str) -> None:
    with pytest.raises(InputError, match=essence):
        ImportOptions(**changes)


def test_ids_need_no_quotes_and_differ() -> None:
    ids = unique_ids(["a b", "a,b", "a_b_2", "a b", "é:1", "", "x" * 300])
    assert ids == ["a_b", "a_b_2", "a_b_2_2", "a_b_3", "é:1", "unnamed", "x" * 80]


def test_labels_assets_and_references_reach_the_graph_and_merging_keeps_all_of_them() -> None:
    draft = Draft("sketch")
    draft.condition("out", initial=True)
    draft.condition("db", label="root on db", asset="db", references=["CVE-1", "CVE-1"], kind="Host")
    draft.exploit("a", needs=["out"], gives="db", success=0.2, label="inject", asset="db", references=["CVE-1"])
    draft.exploit("b", needs=["out"], gives="db", success=0.9, label="guess", asset="db", references=["CVE-2"])
    graph = draft.finish(ImportOptions(merge=True)).graph
    (exploit,) = graph.exploits
    assert (exploit.label, exploit.asset) == ("inject or guess", "db")
    assert exploit.references == ("CVE-1", "CVE-2")
    assert [(c.label, c.asset, c.references) for c in graph.conditions if not c.initial] == [
        ("root on db", "db", ("CVE-1",))
    ]


def test_the_report_says_where_every_number_comes_from_and_what_rests_on_it() -> None:
    draft = Draft("sketch")
    for key in ("out", "a", "b", "c"):
        draft.condition(key, initial=key == "out")
    draft.exploit("x", needs=["out"], gives="a", success=0.25)
    draft.exploit("y", needs=["a"], gives="b", success=0.5, origins={"success": Origin("a table of kinds", True)})
    draft.exploit("z", needs=["b"], gives="c")
    report = draft.finish().report
    said = [(n.origin, n.default, n.count, round(n.share, 3)) for n in report.numbers if n.quantity == "success"]
    assert said[0] == ("the source", False, 1, 0.333)
    assert said[1:] == [
        ("a table of kinds", True, 1, 0.333),
        ("as nothing says it; --success sets it", True, 1, 0.333),
    ]
    assert "numbers     success 0.25 of 1 exploit (33%): from the source" in str(report)
    assert "numbers     success 0.8 of 1 exploit (33%): a default, as nothing says it; --success sets it" in str(report)
    asked = draft.finish(ImportOptions(success=0.75)).report
    assert "numbers     success 0.75 of 2 exploits (67%): from --success" in str(asked)


def test_a_graph_is_called_after_its_file_or_the_folder_of_its_files() -> None:
    def named(*files: str) -> str:
        draft = Draft("sketch")
        draft.condition("out", initial=True)
        draft.condition("in")
        draft.exploit("go", needs=["out"], gives="in")
        return draft.finish(files=files).graph.name

    assert named("/some/plant.json") == "plant"
    assert named("/some/plant/a.csv", "/some/plant/b.csv") == "plant"
    assert named() == "sketch"


def test_the_attackers_own_machine_and_single_steps_are_not_guessed_as_goals() -> None:
    draft = Draft("sketch")
    draft.condition("out", initial=True, asset="laptop")
    draft.condition("root", label="root on the laptop", asset="laptop")
    for key in ("near", "web", "db"):
        draft.condition(key, asset=key)
    for before, after in (("out", "root"), ("out", "near"), ("out", "web"), ("web", "db")):
        draft.exploit(f"{before} {after}", needs=[before], gives=after)
    assert draft.finish().report.goals == ("db",)
    draft.exploit("back", needs=["db"], gives="web")  # now every condition that is none of these leads on
    with pytest.raises(InputError, match=r"root on the laptop \(the attacker's own\), near \(one step") as raised:
        draft.finish()
    assert str(raised.value).endswith("(once for each) or --intents: db (2 steps away), web")


def test_goals_that_are_worth_nothing_are_none() -> None:
    draft = chain()
    draft.goal("db", 0.0)
    draft.goal("web", 2.0)
    report = draft.finish().report
    assert report.goals == ("web",)
    assert "goals of the source that are worth nothing: data base" in str(report)


def test_notes_are_counted_as_often_as_they_were_met() -> None:
    draft = chain()
    draft.note("dropped", "edges of no use", "AdminTo", times=5000)
    draft.note("dropped", "edges of no use", "Owns", times=2)
    assert "5002 x edges of no use: AdminTo, Owns" in noted(draft.finish(), "dropped")


def test_where_nothing_holds_the_sources_are_called_as_people_call_them() -> None:
    draft = Draft("sketch")
    draft.condition("S-1-5-21-7", label="ANN@LAB", kind="User")
    draft.condition("S-1-5-21-9", label="SRV@LAB", kind="Computer")
    draft.exploit("log on", needs=["S-1-5-21-7"], gives="S-1-5-21-9")
    (note,) = [note for note in noted(draft.finish(), "assumed") if "nothing is known to hold" in note]
    assert note.endswith(": User:ANN@LAB")


def test_steps_that_nobody_would_pay_for_are_told() -> None:
    draft = chain()
    draft.exploit("dig", needs=["outside"], gives="db", success=0.005)
    (note,) = [note for note in noted(draft.finish(), "assumed") if "cost more than any goal is worth" in note]
    assert note.endswith(": dig")
    assert not [n for n in noted(draft.finish(ImportOptions(attack_cost=0.001)), "assumed") if "cost more" in n]


def crowd(members: int, machines: int) -> Draft:
    """An AD-like domain: everybody can become any of the members of a group, which administers all machines."""
    draft = Draft("domain")
    draft.condition("anybody", initial=True)
    draft.condition("admins")
    draft.condition("domain")
    draft.goal("domain")
    for i in range(members):
        draft.condition(f"user{i}")
        draft.exploit(f"phish{i}", needs=["anybody"], gives=f"user{i}")
        draft.follow(f"user{i}", "admins")
    for i in range(machines):
        draft.condition(f"machine{i}")
        draft.exploit(f"admin{i}", needs=["admins"], gives=f"machine{i}")
        draft.follow(f"machine{i}", "domain")
        draft.exploit(f"aside{i}", needs=["admins"], gives=f"aside{i}")
        draft.condition(f"aside{i}")
    return draft


def test_limits_count_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    draft = crowd(46, 45)  # 2,070 ways to step from a member to a machine, nearly all of them parallel
    monkeypatch.setattr(finish, "MOST_PARTS", 2000)
    monkeypatch.setattr(finish, "MOST_CARRIED", 2000)
    with pytest.raises(InputError, match="make parallel steps one with --merge"):
        draft.finish()
    graph = draft.finish(ImportOptions(merge=True)).graph
    assert len(graph.exploits) == 2 * 46
    assert graph.origin is None  # the graph before is more than a file should carry
    monkeypatch.setattr(finish, "MOST_PARTS", 100)
    with pytest.raises(InputError, match="92 steps and 48 conditions are left, more than 100; name fewer goals"):
        draft.finish(ImportOptions(merge=True))


def test_what_leads_to_no_goal_does_not_count_against_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finish, "MOST_PARTS", 20)
    draft = Draft("tree")
    draft.condition("start", initial=True)
    for i in range(60):
        draft.condition(f"leaf{i}")
        draft.exploit(f"step{i}", needs=["start"], gives=f"leaf{i}")
    draft.condition("end")
    draft.exploit("last", needs=["leaf7"], gives="end")
    imported = draft.finish(ImportOptions(goals=("end",)))
    assert [exploit.id for exploit in imported.graph.exploits] == ["step7", "last"]
    assert "59 x steps that lead to no goal, of a graph with so many" in str(imported.report)


def test_guessed_goals_are_said_to_stand_for_goals_that_cannot_be_gained() -> None:
    def told(*goals: str) -> str:
        draft = Draft("sketch")
        draft.condition("inet", initial=True)
        for name in ("web", "vault", "nowhere"):
            draft.condition(name)
        draft.exploit("enter", needs=["inet"], gives="web", success=0.5)
        draft.exploit("crack", needs=["nowhere"], gives="vault", success=0.5)
        for goal in goals:
            draft.goal(goal)
        return str(draft.finish().report)

    assert "one per guessed goal, as none that the source names can be gained, equally likely" in told("vault")
    assert "one per guessed goal, equally likely" in told()
    assert "guessed" not in told("web", "vault")


def test_a_number_out_of_range_is_a_default_because_of_that() -> None:
    draft = Draft("sketch")
    draft.condition("out", initial=True)
    draft.condition("web")
    draft.exploit("hack", needs=["out"], gives="web", attack_cost=-5)
    graph = draft.finish().graph
    assert said_of(graph, "attack_cost") == {"hack": ("default", "because the source's value is out of range")}
    assert said_of(graph, "success") == {"hack": ("default", "as nothing says it; --success sets it")}
