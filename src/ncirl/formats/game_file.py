"""Game files, `ncirl-game/1`: a finite game written out state by state, as JSON or YAML.

A file is read in two passes. The shape comes first (`game_schema`); if it holds, everything that the names and
numbers mean is checked together, so that a file's faults come in one message.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ncirl._typing import State
from ncirl.errors import InputError
from ncirl.formats.plain import format_of, read_source, write_document
from ncirl.model.game import Game
from ncirl.model.stage import TERMINAL, Branch, Stage

if TYPE_CHECKING:
    from ncirl.formats.shapes import BranchModel, GameModel, StateModel

__all__ = ["GAME_FORMAT", "MOST_STATES", "game_from_data", "game_to_data", "load_game", "save_game", "state_names"]

GAME_FORMAT = "ncirl-game/1"
MOST_STATES = 100_000  # a larger game is no file for people
SHOWN = 10  # missing moves that are named one by one


def load_game(path: str | Path) -> Game:
    """Read a game file; its public states are the names in it.

    Raises
    ------
    InputError
        With every fault of the file, each with its place.

    Examples
    --------
    >>> load_game("missing.yaml")
    Traceback (most recent call last):
    ncirl.errors.InputError: missing.yaml: cannot be read: No such file or directory
    """
    return game_from_data(read_source(path), str(path))


def save_game(game: Game, path: str | Path) -> None:
    """Write a game file: YAML where the name ends in .yaml or .yml, JSON otherwise.

    Raises
    ------
    InputError
        When two states have the same description or the file cannot be written.
    SizeError
        When more than `MOST_STATES` public states can be reached.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import ncirl
    >>> with TemporaryDirectory() as folder:
    ...     save_game(ncirl.games.patrol(), Path(folder, "patrol.yaml"))
    ...     load_game(Path(folder, "patrol.yaml")).intents
    ('t1', 't2')
    """
    write_document(game_to_data(game), path)


def game_from_data(data: Any, where: str = "game") -> Game:
    """Build a game from a file's data.

    Parameters
    ----------
    data : object
        Plain data as `read_source` gives it.
    where : str
        What messages call it, such as the file's name.

    Raises
    ------
    InputError
        With every fault, each with its place.
    """
    from ncirl.formats.shapes import GameModel, shaped

    format_of(data, [GAME_FORMAT], where)
    reader = _Reader(shaped(GameModel, data, where))
    game = reader.game()
    if game is None or reader.faults:
        raise InputError(reader.faults, where)
    return game


class _Reader:
    """Gives meaning to a well-shaped file, gathering what is wrong as it goes."""

    def __init__(self, model: "GameModel") -> None:
        self.model = model
        self.faults: list[str] = []

    def game(self) -> Game | None:
        """Return the game, or None when it cannot be built; it is right only without faults."""
        model = self.model
        if not model.states:
            self.faults.append("states: at least one is needed")
        initial = self._initial()
        stages = {name: self._stage(name, state) for name, state in model.states.items()}
        try:
            return Game(
                stages.__getitem__,
                intents=model.intents,
                initial=initial,
                discount=model.discount,
                horizon=model.horizon,
                observes=model.observes,
                name=model.name,
            )
        except InputError as error:
            self.faults[:0] = error.faults
            return None

    def _initial(self) -> dict[State, dict[str, float]]:
        initial: dict[State, dict[str, float]] = {}
        for i, start in enumerate(self.model.initial):
            self._know_state(start.state, f"initial[{i}].state")
            masses = initial.setdefault(start.state, {})
            if start.intent in masses:
                self.faults.append(f"initial[{i}]: state '{start.state}' with intent '{start.intent}' appears twice")
            else:
                masses[start.intent] = start.probability
        return initial

    def _stage(self, name: str, state: "StateModel") -> Stage:
        if not (state.attacker or state.defender or state.moves):
            return TERMINAL
        if not state.moves:
            self.faults.append(f"states.{name}: has actions but no moves; give its moves, or no actions to end there")
            return TERMINAL
        if not (state.attacker and state.defender):
            none = " and ".join(side for side in ("attacker", "defender") if not getattr(state, side))
            self.faults.append(f"states.{name}: has moves but no actions of {none}; list them")
            return TERMINAL
        moves: dict[tuple[str, str], list[Branch]] = {}
        attacker, defender = frozenset(state.attacker), frozenset(state.defender)
        for i, move in enumerate(state.moves):
            at, pair = f"states.{name}.moves[{i}]", (move.attacker, move.defender)
            self._know_action(move.attacker, attacker, f"{at}.attacker")
            self._know_action(move.defender, defender, f"{at}.defender")
            if pair in moves:
                self.faults.append(f"{at}: move {'/'.join(pair)} appears twice")
            branches = [self._branch(way, f"{at}.next[{j}]") for j, way in enumerate(move.next)]
            moves.setdefault(pair, branches)
        missing = list(islice((p for p in product(state.attacker, state.defender) if p not in moves), SHOWN + 1))
        if missing:
            named = ", ".join("/".join(pair) for pair in missing[:SHOWN])
            more = " and more" if len(missing) > SHOWN else ""
            self.faults.append(f"state '{name}', no move for {named}{more}; every pair of actions needs one")
        if len(missing) > SHOWN:
            return TERMINAL
        moves |= {pair: [Branch(name)] for pair in missing}  # only so that the other moves are checked too
        moves = {(a, d): ways for (a, d), ways in moves.items() if a in attacker and d in defender}
        n_intents = len(self.model.intents)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is named as a fault
            stage = Stage.from_moves(state.attacker, state.defender, moves, n_intents)
            self.faults += [f"state '{name}', {fault}" for fault in stage.faults(n_intents)]
        return stage

    def _branch(self, way: "BranchModel", at: str) -> Branch:
        self._know_state(way.state, f"{at}.state")
        if isinstance(way.reward, float):
            return Branch(way.state, way.probability, way.reward, way.signal)
        intents = self.model.intents
        self.faults += [f"{at}.reward: unknown intent '{name}'" for name in way.reward if name not in intents]
        self.faults += [f"{at}.reward: intent '{name}' is missing" for name in intents if name not in way.reward]
        by_intent = tuple(way.reward.get(name, 0.0) for name in intents)
        return Branch(way.state, way.probability, by_intent, way.signal)

    def _know_state(self, name: str, at: str) -> None:
        if name not in self.model.states:
            self.faults.append(f"{at}: unknown state '{name}'")

    def _know_action(self, name: str, known: frozenset[str], at: str) -> None:
        if name not in known:
            self.faults.append(f"{at}: unknown action '{name}'")


def state_names(game: Game, limit: int = MOST_STATES) -> dict[State, str]:
    """Return every reachable public state with the description by which a file knows it.

    Raises
    ------
    InputError
        When two states have the same description.
    SizeError
        When more than `limit` public states can be reached.
    """
    names = {state: game.describe(state) for state in game.explore(limit)}
    twice = [name for name, times in Counter(names.values()).items() if times > 1]
    if twice:
        fault = f"two states are both described as '{twice[0]}'; pass a `describe` that tells them apart"
        raise InputError(fault, f"game '{game.name}'")
    return names


def game_to_data(game: Game, limit: int = MOST_STATES) -> dict[str, Any]:
    """Write out every reachable public state of a game as the data of a game file; errors as for `state_names`."""
    names = state_names(game, limit)
    return {
        "format": GAME_FORMAT,
        "name": game.name,
        "discount": game.discount,
        "horizon": game.horizon,
        "observes": str(game.observes),
        "intents": list(game.intents),
        "initial": [
            {"state": names[start.state], "intent": intent, "probability": float(mass)}
            for start in game.starts
            for intent, mass in zip(game.intents, start.mass, strict=True)
            if mass > 0
        ],
        "states": {name: _state_to_data(game, state, names) for state, name in names.items()},
    }


def _state_to_data(game: Game, state: State, names: dict[State, str]) -> dict[str, Any]:
    stage = game.stage(state)
    if stage.is_terminal:
        return {}
    return {
        "attacker": list(stage.attacker),
        "defender": list(stage.defender),
        "moves": [
            {"attacker": a, "defender": d, "next": list(_branches_to_data(game, stage, i, j, names))}
            for i, a in enumerate(stage.attacker)
            for j, d in enumerate(stage.defender)
        ],
    }


def _branches_to_data(game: Game, stage: Stage, a: int, d: int, names: dict[State, str]) -> Iterator[dict[str, Any]]:
    for o, probability in zip(*stage.outcome_law(a, d), strict=True):
        if probability == 0:
            continue
        outcome, rewards = stage.outcomes[o], stage.realised(a, d, int(o)).tolist()
        same = all(reward == rewards[0] for reward in rewards)
        signal = {} if outcome.signal is None else {"signal": outcome.signal}
        yield {
            "state": names[outcome.state],
            "probability": float(probability),
            "reward": rewards[0] if same else dict(zip(game.intents, rewards, strict=True)),
        } | signal
