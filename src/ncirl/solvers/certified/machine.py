"""The kernel as a machine: WebAssembly, made ready once a process and instantiated once a search.

`kernel/` has its source in C and, in `kernel.wasm`, what `make kernel` makes of it. It imports nothing, knows no clock
and does its arithmetic as IEEE 754 has it, so that a search is the same on every machine.
"""

import atexit
import logging
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ncirl._typing import FloatArray, IntArray
from ncirl.solvers.certified.node_tables import PointTable, VectorTable, pieces

if TYPE_CHECKING:  # it takes a while to load, and most games do without it
    import wasmtime

__all__ = ["ADDRESS", "KernelError", "Machine"]

log = logging.getLogger(__name__)
FAILED = "the compiled kernel failed ({reason}): the search goes on without it; please report this"
TOO_MUCH = 2**30 + 1  # bytes, which the kernel never gives at once
WORDS = 16  # of the largest table that the kernel writes
ADDRESS = 0xFFFFFFFF  # addresses are 32 bits without a sign
KINDS: dict[str, type[np.generic]] = {
    "f": np.float64,
    "i": np.int32,
    "u": np.uint32,
    "b": np.uint8,
}  # as the kernel has it


@cache
def _module() -> "tuple[wasmtime.Engine, wasmtime.Module]":
    import wasmtime

    config = wasmtime.Config()
    config.cranelift_opt_level = "speed"
    config.parallel_compilation = False  # its threads would be missing after a fork
    engine = wasmtime.Engine(config)
    code = files("ncirl.solvers.certified").joinpath("kernel", "kernel.wasm").read_bytes()
    atexit.register(_module.cache_clear)  # while what lets go of it is still there
    return engine, wasmtime.Module(engine, code)


@cache
def _allocator() -> int | None:
    """Return the number of the function of the kernel that ends where there is no more memory to give.

    A trap says where it was, and not why: to fail there is to find no more memory, anywhere else it is an error.
    """
    import wasmtime

    machine = Machine()
    take = machine._exports["take"]
    assert isinstance(take, wasmtime.Func)
    try:
        take(machine._store, TOO_MUCH)
    except wasmtime.Trap as trap:
        return _innermost(trap)
    return None


def _innermost(trap: "wasmtime.Trap") -> int | None:
    """Return the number of the function in which a trap came."""
    frames = trap.frames
    return frames[0].func_index if frames else None


class KernelError(RuntimeError):
    """The kernel went wrong, and not for want of memory: what it holds cannot be used any more."""


class Machine:
    """An instance of the kernel: functions to call, and a memory to put arrays into and read them from."""

    def __init__(self) -> None:
        import wasmtime

        self._failure = ""  # why nothing here can be used any more

        engine, module = _module()
        self._store = wasmtime.Store(engine)
        try:
            self._exports = wasmtime.Instance(self._store, module, []).exports(self._store)
        except wasmtime.WasmtimeError as error:  # it reserves addresses, of which there may be few
            raise MemoryError("there is no room for the kernel") from error
        memory = self._exports["memory"]
        assert isinstance(memory, wasmtime.Memory)
        self._memory = memory

    def call(self, name: str, *arguments: float) -> float:
        """Call a function of the kernel.

        Raises
        ------
        MemoryError
            When it finds no more memory.
        KernelError
            When it ends in any other way than by returning, now or earlier.
        """
        import wasmtime

        function = self._exports[name]
        assert isinstance(function, wasmtime.Func)
        if self._failure:
            raise KernelError(self._failure)
        try:
            found = function(self._store, *arguments)
        except wasmtime.Trap as trap:
            if _innermost(trap) == _allocator():
                raise MemoryError("the kernel finds no more memory") from trap
            self._failure = f"{name}: {_reason(trap)}"
            log.warning(FAILED.format(reason=self._failure))
            raise KernelError(self._failure) from trap
        return 0.0 if found is None else float(found)

    @property
    def size(self) -> int:
        """How many bytes of memory there are."""
        return self._memory.data_len(self._store)

    def _bytes(self) -> NDArray[np.uint8]:
        """Return the whole memory as it is now: with every call it may grow."""
        return np.ctypeslib.as_array(self._memory.data_ptr(self._store), shape=(self._memory.data_len(self._store),))

    def put(self, array: NDArray[Any]) -> int:
        """Copy an array of numbers, integers or truths into the memory; return its address."""
        return self.put_all([array])[0]

    def put_all(self, arrays: Sequence[NDArray[Any]]) -> list[int]:
        """Copy arrays into one piece of memory, for a call takes a while; return where each is, and the first all."""
        ends = np.cumsum([_size(array) for array in arrays]).tolist()
        at = int(self.call("take", ends[-1])) & ADDRESS
        memory, places = self._bytes(), [at, *(at + end for end in ends[:-1])]
        for place, array in zip(places, arrays, strict=True):
            data = np.ascontiguousarray(array, dtype=KINDS[array.dtype.kind]).reshape(-1).view(np.uint8)
            memory[place : place + len(data)] = data
        return places

    def put_words(self, words: list[int]) -> int:
        """Put a table of numbers and addresses."""
        return self.put(np.array(words, dtype=np.uint32))

    def numbers(self, at: int, *shape: int) -> FloatArray:
        """Return a copy of numbers."""
        return self._bytes()[at : at + 8 * int(np.prod(shape))].view(np.float64).reshape(shape).copy()

    def integers(self, at: int, *shape: int) -> IntArray:
        """Return a copy of integers."""
        return self._bytes()[at : at + 4 * int(np.prod(shape))].view(np.int32).reshape(shape).astype(np.intp)

    def add(self, nodes: VectorTable | PointTable) -> None:
        """Add nodes; those that they lead to have numbers already, or are among them."""
        arrays = [array.astype(np.intp) if array.dtype == np.bool_ else array for array in nodes.arrays()]
        places = self.put_all(arrays)
        table = self.put_words(places)
        self.call("add_vectors" if isinstance(nodes, VectorTable) else "add_points", len(nodes), table)
        self.call("give_back", places[0], sum(map(_size, arrays)))
        self.call("give_back", table, _size(np.array(places, dtype=np.uint32)))

    def vectors(self, n_t: int, n_successors: IntArray) -> VectorTable:
        """Return all nodes of the defender's; `n_successors` is by state."""
        common, (rest_at, rests, n) = self._nodes("vectors_table", n_t)
        n_rest = n_successors[common["state"]]
        begin = self.integers(rest_at, len(n_rest))
        rest = self.integers(rests, n)[pieces(begin, n_rest)]
        mixed: FloatArray = common.pop("weight")[:, 0]
        return VectorTable(**common, chance=mixed, n_rest=n_rest, rest=rest)

    def points(self, n_t: int) -> PointTable:
        """Return all nodes of the attacker's."""
        common, (beliefs, *_) = self._nodes("points_table", n_t)
        mass = common.pop("weight")
        return PointTable(**common, mass=mass, belief=self.numbers(beliefs, len(common["state"]), n_t))

    def _nodes(self, name: str, n_t: int) -> tuple[dict[str, Any], list[int]]:
        """Return what nodes of both kinds have, in order of the nodes, and the rest of the table of addresses."""
        at = self.put_words([0] * WORDS)
        self.call(name, at)
        words: list[int] = self._bytes()[at : at + 4 * WORDS].view(np.uint32).tolist()
        self.call("give_back", at, 4 * WORDS)
        n, state, place, plays, links, worth, played, weight, n_played, observation, to, share, n_links, *own = words
        per_entry, per_node = (1, (n, n_t)) if name == "vectors_table" else (n_t, (n,))
        (play_at, plays_each), (link_at, links_each) = (self.integers(spans, n, 2).T for spans in (plays, links))
        some, follow = pieces(play_at, plays_each), pieces(link_at, links_each)
        return {
            "state": self.integers(state, n),
            "n_played": plays_each,
            "n_links": links_each,
            "kept": self.integers(place, n) >= 0,
            "played": self.integers(played, n_played)[some],
            "weight": self.numbers(weight, n_played, per_entry)[some],
            "observation": self.integers(observation, n_links)[follow],
            "to": self.integers(to, n_links)[follow],
            "share": self.numbers(share, n_links)[follow],
            "worth": self.numbers(worth, *per_node),
        }, own


def _reason(trap: "wasmtime.Trap") -> str:
    """Say in a line what kind of trap it was, and in which function of the kernel."""
    code = trap.trap_code
    kind = "unknown trap" if code is None else code.name.lower().replace("_", " ")
    return f"{kind}, in its function {_innermost(trap)}"


def _size(array: NDArray[Any]) -> int:
    """Return how many bytes an array takes in the kernel: whole words of the longest kind."""
    return max(8, -(-array.size * np.dtype(KINDS[array.dtype.kind]).itemsize // 8) * 8)
