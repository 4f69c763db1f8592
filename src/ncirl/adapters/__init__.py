"""Games and strategies in the words of other tools, each in a module of its own that loads only what it needs.

- `pettingzoo`: both sides as agents of a ``ParallelEnv``; `gymnasium`: one side against a given opponent.
- `openspiel`: a game of OpenSpiel, strategies to its policies and back.
- `efg`: the extensive form as a Gambit file. (Files of one-sided POSGs are in `ncirl.formats`.)
"""
