"""The kernel of the certified search, in C, and `kernel.wasm`, which `build` makes of it."""
