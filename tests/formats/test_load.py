"""The one way in: what was named, with its graph and its policy where there are any."""

from __future__ import annotations

from pathlib import Path

import pytest

import ncirl
from ncirl.errors import InputError
from ncirl.formats.graph_source import extra_of
from ncirl.formats.load import graph_for, graph_named, load, load_bytes, resolve_game
from ncirl.games.office import office_graph

GRAPH_NAMED = "is no attack graph; give an attack-graph file or builtin:office"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a file of every kind."""
    folder = tmp_path_factory.mktemp("named")
    ncirl.save_game(ncirl.games.patrol(horizon=2), folder / "game.yaml")
    office_graph().save(folder / "graph.json")
    solution = ncirl.solve(office_graph().game(), ncirl.Certified(gap=0.0, relative_gap=0.3))
    solution.save(folder / "policy.ncirl", extra_of(office_graph()))
    (folder / "policy").write_bytes((folder / "policy.ncirl").read_bytes())
    return folder


@pytest.mark.parametrize(
    ("name", "graph", "policy"),
    [
        ("game.yaml", False, False),
        ("graph.json", True, False),
        ("policy.ncirl", True, True),
        ("policy", True, True),  # known by how it begins
    ],
)
def test_a_file_is_what_it_holds(folder: Path, name: str, graph: bool, policy: bool) -> None:
    path = folder / name
    for loaded in (load(str(path)), load_bytes(path.read_bytes(), name)):
        assert loaded.game.name == ("office" if graph else "patrol")
        assert (loaded.graph is not None, loaded.policy is not None) == (graph, policy)


@pytest.mark.parametrize(("name", "graph"), [("builtin:office", True), ("builtin:patrol", False)])
def test_a_built_in_game_is_known_by_name(name: str, graph: bool) -> None:
    loaded = load(name)
    assert (loaded.name, loaded.graph is not None, loaded.policy) == (name, graph, None)


def test_a_policy_is_no_game_where_a_game_is_asked_for(folder: Path) -> None:
    with pytest.raises(InputError, match=r"policy\.ncirl: "):
        resolve_game(str(folder / "policy.ncirl"))


@pytest.mark.parametrize(
    ("name", "said"), [("game.yaml", GRAPH_NAMED), ("nowhere.yaml", "no such file; give an attack")]
)
def test_only_graphs_are_graphs(folder: Path, name: str, said: str) -> None:
    assert graph_named(str(folder / "graph.json")) == office_graph()
    with pytest.raises(InputError, match=f"{name}: {said}"):
        graph_named(str(folder / name))


def test_a_policy_goes_with_its_own_graph(folder: Path) -> None:
    policy = load(str(folder / "policy.ncirl")).policy
    assert policy is not None
    assert graph_for(policy, None) is not None
    assert graph_for(policy, str(folder / "graph.json")) == office_graph()
    with pytest.raises(InputError, match=GRAPH_NAMED):
        graph_for(policy, str(folder / "game.yaml"))


@pytest.mark.parametrize("name", ["game.yaml", "graph.json"])
def test_nothing_is_read_twice(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []
    opened = Path.open

    def counted(path: Path, *given: object, **options: object) -> object:
        read.append(path)
        return opened(path, *given, **options)

    monkeypatch.setattr(Path, "open", counted)
    loaded = load(str(folder / name))
    assert loaded.game.explore()
    assert [str(path) for path in read] == [str(folder / name)]
