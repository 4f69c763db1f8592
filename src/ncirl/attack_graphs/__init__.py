"""Attack graphs: the model, its rules, random instances, sizes, reductions."""
