"""From a game to the search and back: what is done before it, exactly, and the playbooks it ends with.

Before: a horizon becomes part of the state, equivalent states are merged (`quotient`), intents with equal rewards are
merged, rewards that nobody meets are left aside (`tempered`) and those that remain are put in units of the largest.
After: both controllers become playbooks of the game as it was given, and are verified; what that finds are the bounds.

How long and how much memory the way back takes is told from building the search's arrays, which goes through the same
numbers, or from having gone it last, in proportion to the nodes in use; the search leaves that much of either. It is
gone now and then while the search goes on, too, a small part of the time: should it be cut in the end, since a machine
was busy or a step of the search took long, what is returned is close to what the search had come to.
"""

from dataclasses import dataclass

import numpy as np

from ncirl.errors import LimitError, NcirlError
from ncirl.limits import UNLIMITED, Limits
from ncirl.lp.session import Meter
from ncirl.model.game import Game
from ncirl.model.intents import merge_intents
from ncirl.model.quotient import quotient
from ncirl.model.tempered import tempered
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook
from ncirl.playbook.unmerged import unmerged
from ncirl.playbook.verify import Certificate, evaluated
from ncirl.solution import Status
from ncirl.solvers.certified.compiled import Compiled
from ncirl.solvers.certified.export import attacker_playbook, defender_playbook
from ncirl.solvers.certified.fewer import Fewer, in_kernel, served_after
from ncirl.solvers.certified.kinds import Kinds
from ncirl.solvers.certified.machine import KernelError
from ncirl.solvers.certified.schedule import Late
from ncirl.solvers.certified.search import Search
from ncirl.solvers.initial import initial_bounds

__all__ = ["SMALLER", "Playbooks", "SetUp"]

SMALLER = "solve a smaller game"
LIKEWISE = 2.0  # times building the arrays of the search: about what writing and verifying playbooks takes
MUCH, SOON = 0.05, 1.0  # of the memory, and in seconds: if it takes more, it is done before the search, too
MARGIN, LATE = 1.5, 0.1  # times what it took: what is left for it; of the time limit: what it may be late
SELDOM, PART = 4.0, 0.1  # times what it takes, and of the time limit: what lies between two times at the least
EARLY = 0.05  # of the time limit: when the kernel's nodes are first written, to learn how long that takes
FAR = 3.0  # times as many nodes as when it was last done: then how long it takes is hardly known
CLOSER = 0.9  # times the gap of the last time: what must have come of the search for it to be worth while
LONG = 100.0  # seconds, where there is no time limit
PROMPT = 1.0  # seconds that it may take once somebody waits
HALF, SPARE = 0.5, 0.1  # of the memory: what is left for it at the most, and at the least


class SetUp:
    """A game made ready for the search, and the way back to playbooks of the game as it was given."""

    def __init__(self, game: Game, limits: Limits) -> None:
        self.game, self.timed, self.meter = game, game.timed(), Meter()
        self.merged = quotient(self.timed, limits, actions=True)
        self.intents = merge_intents(self.timed if self.merged.is_trivial else self.merged.game, limits)
        small = tempered(self.intents.game, limits)
        self.scale = small.unit
        initial = initial_bounds(small.game, small.options, limits)
        began, used = limits.spent, limits.used
        self.search = Search(small.game, initial, self.meter, limits=limits)
        self.compiled: Compiled | None = None  # the kernel, once the search has been handed over to it
        self.kinds: Kinds | None = (
            None  # what attackers secure that tell few kinds of intents apart, once it is their turn
        )
        self.served_after = served_after(self.search)  # the work after which it is handed over
        self._refused, self._learned = False, True  # whether it cannot be; how long writing takes from there
        size, _ = self.search.in_use
        self._nodes = size, size  # what it takes was told from all of them
        # writing and verifying goes through the same arrays, of the game as it was given
        self._seconds, self._bytes = LIKEWISE * (limits.spent - began), max(0, limits.used - used)
        self._last: Playbooks | None = None
        self.cut: Status | None = None  # which limit cut the last writing, so that there are only older playbooks
        self._gap, self._when = np.inf, limits.spent  # of the search, and the time, when they were last written

    @property
    def now(self) -> Search | Compiled:
        """What searches now."""
        return self.compiled or self.search

    @property
    def is_hard(self) -> bool:
        """Tell whether to hand the search over to the kernel: if it is not done soon, and is served there."""
        return not self._refused and self.compiled is None and self.meter.work >= self.served_after

    def hand_over(self, gap: float = 0.0, limits: Limits = UNLIMITED) -> bool:
        """Let the kernel go on from where the search is, to a relative gap; if it cannot, the search goes on by itself.

        Where intents are many, the kernel takes some for one, as few as it can and the gap allows.
        """
        self._refused = True  # until it is known
        try:
            compiled = in_kernel(self.search, gap, limits)
            if compiled is None:
                return False
            compiled.machine.call("count_vectors")
        except (MemoryError, LimitError, KernelError):
            return False
        self.search.forget_programs()
        self._refused, self._learned = False, False
        self.compiled, self.kinds = compiled, None
        return True

    def take_back(self) -> bool:
        """Take no intents for one any more in the kernel where that can do no more, with what it found; whether so."""
        if not isinstance(self.compiled, Fewer) or not self.compiled.is_settled:
            return False
        if self.kinds is not None:
            self.kinds.last_turn()
        self.compiled.give_back()
        self.compiled, self.kinds = None, None
        self.hand_over()  # all told apart, if they are not too many
        return True

    def leave_kernel(self) -> None:
        """Go on from where the kernel began: it failed, and what it holds cannot be used any more."""
        self.compiled, self.kinds, self._refused = None, None, True

    def turn_of_kinds(self, target: float, late: Late) -> None:
        """Go on with games that tell few kinds of intents apart."""
        if self.kinds is None:
            self.kinds = Kinds(self.now)
        self.kinds.turn(target, late)

    def rest(self) -> None:
        """Give back what can be made again until the search is gone on with."""
        try:
            self.now.rest()
            if self.kinds is not None:
                self.kinds.rest()
        except KernelError:
            self.leave_kernel()

    @property
    def numbers(self) -> int:
        """About how many numbers the search works on, beside what it finds."""
        return sum(here.reward.size + here.table.size for here in self.search.arrays)

    @property
    def _predicted(self) -> float:
        """How many seconds writing and verifying the playbooks takes now."""
        return self._seconds * self._grown

    @property
    def _grown(self) -> float:
        """How many times as many nodes there are as when it was last done."""
        return max(1.0, min(now / max(then, 1) for now, then in zip(self.now.in_use, self._nodes, strict=True)))

    def is_large(self, limits: Limits) -> bool:
        """Tell whether writing and verifying playbooks takes long, or a good part of the memory."""
        memory = limits.memory or np.inf
        return self._seconds > SOON or (self._bytes > MUCH * memory and limits.used + self._bytes > HALF * memory)

    def is_late(self, limits: Limits) -> bool:
        """Tell whether the time that is left is what writing and verifying the playbooks takes."""
        return limits.seconds is not None and limits.left <= MARGIN * self._predicted

    def is_due(self, limits: Limits) -> bool:
        """Tell whether to write and verify the playbooks meanwhile: now and then, where that may be cut in the end.

        Also before the search ends for it: if how long it takes was told from few nodes, that may be far too early.
        """
        if limits.seconds is None and self._predicted < PROMPT:
            return False
        if self.is_late(limits):
            return self._grown > FAR and limits.left > self._seconds
        if not self._learned and limits.seconds is not None:
            return limits.spent > EARLY * limits.seconds
        self._when = min(self._when, limits.spent)  # a search that goes on has another clock
        between = max(SELDOM * self._predicted, PART * (limits.seconds or LONG))
        return limits.spent - self._when >= between and self.now.gap_at_start() < CLOSER * self._gap

    def is_full(self, limits: Limits) -> bool:
        """Tell whether the memory that is left is what writing and verifying the playbooks takes."""
        if limits.memory is None:
            return False
        return limits.room < min(max(self._bytes, SPARE * limits.memory, self.now.spare), HALF * limits.memory)

    def write(self, limits: Limits) -> None:
        """Write and verify the playbooks, to have some, and learn how long that takes."""
        self._gap = self.now.gap_at_start()
        self._last, self._when = self._timed(limits), limits.spent

    def write_meanwhile(self, limits: Limits) -> None:
        """Do so in the middle of the search; what is cut tells only that it takes longer."""
        began, self._learned = limits.spent, True
        try:
            self.write(limits.at_least(limits.left + LATE * (limits.seconds or 0.0)))
        except (LimitError, MemoryError):
            self._seconds, self._when = max(self._seconds, 2 * (limits.spent - began)), limits.spent

    def certified_now(self, limits: Limits, *, somebody_waits: bool) -> "Playbooks":
        """Write and verify the playbooks as they are now; if that is `cut`, return the last ones."""
        self.cut = None
        last, late, limits = self._last, LATE * (limits.seconds or 0.0), limits.undisturbed()
        self.search.forget_programs()
        if last is not None and last.solves == self.meter.solves:
            return last
        if self.kinds is not None:
            self.kinds.last_turn()
        if last is None:
            limits = limits.at_least(np.inf)  # without others to return it is not cut for being late
        elif somebody_waits:
            limits = limits.within(PROMPT)
        else:  # a little late is better than a search in vain
            limits = limits.at_least(max(limits.left, 0.0) + late)
        try:
            found = self._timed(limits)
            if last is None or found.gap <= last.gap:  # else the kernel was left, with what it had found
                self._last = found  # what a search that goes on falls back to
            return self._last or found
        except (LimitError, MemoryError) as error:
            if last is not None:
                is_late = isinstance(error, LimitError) and error.kind == "time"
                self.cut = Status.TIME_LIMIT if is_late else Status.MEMORY_LIMIT
                return last
            if isinstance(error, MemoryError):
                error = LimitError("memory", "writing and verifying the playbooks")
            raise error.with_remedies(SMALLER) from None

    def _timed(self, limits: Limits) -> "Playbooks":
        """Write and verify the playbooks; learn how long that takes."""
        nodes, found = self.now.in_use, self.certified(limits)
        self._seconds, self._nodes, self._learned = found.seconds, nodes, True
        return found

    def certified(self, limits: Limits) -> "Playbooks":
        """Write the controllers as playbooks of the game and verify them: what they prove are the bounds."""
        began = limits.spent
        home = self.now.home()
        attacker = attacker_playbook(home, self.intents, self.scale, limits)
        defender = defender_playbook(home, self.intents, self.scale, limits)
        if not self.merged.is_trivial:
            attacker = unmerged(attacker, self.timed, self.merged, limits)
            defender = unmerged(defender, self.timed, self.merged, limits)
        attacker, defender, proved = evaluated(self.game, attacker, defender, limits)
        if proved.faults:
            raise NcirlError(
                f"the playbooks of game '{self.game.name}' do not verify: {proved.faults[0]}; please report this"
            )
        return Playbooks(attacker, defender, proved, limits.spent - began, self.meter.solves)


@dataclass(frozen=True, eq=False)
class Playbooks:
    """Playbooks and what they were found to prove."""

    attacker: AttackerPlaybook
    defender: DefenderPlaybook
    proved: Certificate
    seconds: float  # that writing and verifying them took
    solves: int  # linear programs before them

    @property
    def gap(self) -> float:
        """Distance of the bounds that they prove."""
        return self.proved.upper - self.proved.lower
