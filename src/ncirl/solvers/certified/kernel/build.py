"""Make `kernel.wasm` from its source: `make kernel`, after a change to any of the files in C.

A compiler that runs everywhere comes from the package registry (`ziglang`, the group `kernel`); whoever installs or
tests the project needs none. `kernel.sum` says from which source the file was made, and a test holds both to it.
"""

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

__all__ = ["SUM", "WASM", "build", "sums"]

HERE = Path(__file__).parent
WASM, SUM = HERE / "kernel.wasm", HERE / "kernel.sum"
STACK, MEMORY = 1 << 20, 65535 << 16  # bytes: of the stack, and of all memory at the most
FLAGS = [
    "--target=wasm32-freestanding",
    "-msimd128",
    "-O3",
    "-std=gnu11",
    "-ffast-math",
    "-fno-finite-math-only",
    "-fno-sanitize=all",
    "-ffreestanding",
    "-nostdlib",
    "-g0",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wl,--no-entry",
    "-Wl,--strip-all",
    f"-Wl,-z,stack-size={STACK}",
    f"-Wl,--max-memory={MEMORY}",
]


def sums() -> str:
    """Return what `kernel.sum` is to say: digests of the source with its flags, and of what was made of it."""
    source = sha256(" ".join(FLAGS).encode())
    for path in sorted([*HERE.glob("*.c"), *HERE.glob("*.h")]):
        source.update(path.name.encode() + b"\0" + path.read_bytes())
    return f"source {source.hexdigest()}\nkernel.wasm {sha256(WASM.read_bytes()).hexdigest()}\n"


def build() -> None:
    """Compile the kernel."""
    sources = sorted(path.name for path in HERE.glob("*.c"))
    command = [sys.executable, "-m", "ziglang", "cc", *FLAGS, "-o", WASM.name, *sources]
    subprocess.run(command, cwd=HERE, check=True)
    WASM.chmod(0o644)
    SUM.write_text(sums())


if __name__ == "__main__":
    build()
