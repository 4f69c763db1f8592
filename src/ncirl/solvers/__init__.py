"""One algorithm a module; each is a frozen object of settings with `run`."""
