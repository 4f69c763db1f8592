"""Attack graphs of any size: certified bounds of the whole graph from games that are small."""
