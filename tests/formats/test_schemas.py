"""JSON Schemas: what ships is what the models say, it accepts every example, and it can refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

import ncirl
from defence.policies import office
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.defence import DefenceSession, Service
from ncirl.defence.schema import generated
from ncirl.formats import SCHEMAS, game_to_data, read_source, schema
from ncirl.formats.array_file import read_arrays
from ncirl.formats.attack_graph_file import attack_graph_to_data
from ncirl.formats.policy_file import GUARDED_FORMAT, POLICY_FORMAT

DATA = Path(__file__).parents[1] / "data"
OFFICE = Path(ncirl.__file__).parent / "games" / "data" / "office.yaml"
Request = dict[str, Any]


def accept(name: str, data: Any) -> None:
    Draft202012Validator(schema(name)).validate(json.loads(json.dumps(data)))


SEEN: Request = {"do": "observe", "attacker": ["phish a password"], "defender": [], "new": ["mail"]}
REQUESTS: list[Request] = [
    {"do": "advise", "id": 7},
    {"do": "options"},
    {"do": "options", "attacker": ["phish a password"], "defender": []},
    SEEN,
    {"do": "why"},
    {"do": "undo"},
    {"do": "state"},
    {"do": "quit"},
]


def after_a_stage() -> Service:
    service = Service(DefenceSession(office(), rng=1))
    assert "error" not in service.answer({**SEEN, "new": []})
    return service


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_ships_is_what_the_models_say(name: str) -> None:
    assert schema(name) == generated()[name], "run python -m ncirl.defence.schema"
    Draft202012Validator.check_schema(schema(name))


def test_no_schema_is_forgotten() -> None:
    assert set(generated()) == set(SCHEMAS)


def test_attack_graph_files_fit() -> None:
    accept("attack-graph", read_source(OFFICE))


def test_random_attack_graphs_fit() -> None:
    accept("attack-graph", attack_graph_to_data(random_attack_graph(6, intents=3, rng=1)))


@pytest.mark.parametrize("name", ["patrol", "big-match", "aumann-maschler-1", "office"])
def test_games_fit_as_they_are_written(name: str) -> None:
    accept("game", game_to_data(ncirl.games.builtin(name)))


@pytest.mark.parametrize("file", ["alive.json", "siege.yaml"])
def test_game_files_fit(file: str) -> None:
    accept("game", read_source(DATA / file))


def test_the_header_of_a_policy_fits(tmp_path: Path) -> None:
    office().save(tmp_path / "office.ncirl", {"note": "anything"})
    accept("policy-header", dict(read_arrays(tmp_path / "office.ncirl", POLICY_FORMAT).header))


def test_the_header_of_a_guarded_policy_fits(tmp_path: Path) -> None:
    office_graph = ncirl.AttackGraph.load(OFFICE)
    ncirl.solve(office_graph, ncirl.Guarded(relative_gap=0.9)).save(tmp_path / "office.ncirl")
    header = dict(read_arrays(tmp_path / "office.ncirl", GUARDED_FORMAT).header)
    accept("guarded-header", header)
    with pytest.raises(ValidationError):
        accept("guarded-header", header | {"parts": [{}]})


def fit(service: Service, request: Request) -> Request:
    response: Request = service.answer(request)
    accept("defend-request", request)
    accept("defend-response", response)
    assert "error" not in response
    return response


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request["do"])
def test_requests_and_responses_fit(request_: Request) -> None:
    fit(after_a_stage(), request_)


def test_a_session_that_was_kept_fits() -> None:
    service = after_a_stage()
    fit(service, fit(service, {"do": "state"}) | {"do": "resume"})


def test_refusals_fit() -> None:
    accept("defend-response", Service(DefenceSession(office(), rng=1)).answer({"do": "dance", "id": None}))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("attack-graph", {"format": "ncirl-attack-graph/3"}),
        ("attack-graph", read_source(OFFICE) | {"weather": "fine"}),
        ("game", read_source(DATA / "alive.json") | {"discount": "0.9"}),
        ("game", read_source(DATA / "alive.json") | {"observes": "nothing"}),
        ("defend-request", {"do": "advise", "attacker": []}),
        ("defend-response", {"advice": {}}),
    ],
)
def test_what_does_not_fit_is_refused(name: str, data: Any) -> None:
    with pytest.raises(ValidationError):
        accept(name, data)


def test_an_unknown_schema_is_refused_with_those_there_are() -> None:
    with pytest.raises(ncirl.InputError, match="there are game, attack-graph"):
        schema("weather")
