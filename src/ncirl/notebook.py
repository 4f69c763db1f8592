"""Progress of a solver in a notebook: one table, renewed where it stands while the cell runs."""

from typing import Any

from ncirl.errors import InputError
from ncirl.solution import Progress, ProgressCallback, bar_of

__all__ = ["notebook_progress"]

BETWEEN = 0.2  # seconds between two renewals: faster than that nobody reads, and every one is a message


def notebook_progress(between: float = BETWEEN) -> ProgressCallback:
    """Return a callback for `solve` that shows the bounds below the cell of a notebook while they close.

    Parameters
    ----------
    between : float
        Seconds of solving between two renewals; 0 shows every report.

    Returns
    -------
    callable
        To be given to `solve` as `progress`, once: each one has a place of its own. The last report may come too soon
        after another to be shown; the final bounds are the solution's.

    Raises
    ------
    InputError
        If IPython is not installed.

    Examples
    --------
    >>> import ncirl
    >>> game = ncirl.games.patrol(horizon=3)
    >>> solution = ncirl.solve(game, ncirl.Certified(), progress=ncirl.notebook_progress())  # doctest: +SKIP
    """
    try:
        from IPython.display import HTML, display
    except ImportError:
        raise InputError("notebook_progress needs IPython, which comes with every notebook; run it in one") from None
    place: Any = None  # where the table stands; none before the first report, and none outside a notebook
    due = 0.0

    def show(progress: Progress) -> None:
        nonlocal place, due
        if progress.seconds < due:
            return
        due = progress.seconds + between
        if place is None:
            place = display(HTML(table_of(progress)), display_id=True)  # type: ignore[no-untyped-call]
        else:
            place.update(HTML(table_of(progress)))  # type: ignore[no-untyped-call]

    return show


def table_of(progress: Progress) -> str:
    """Return what is reported as a small table."""
    facts = {
        "bounds": f"{progress.lower:.6g} to {progress.upper:.6g}<br>{bar_of(progress.lower, progress.upper)}",
        "gap": f"{progress.gap:.3g}",
        "linear programs": str(progress.lp_solves),
        "seconds": f"{progress.seconds:.1f}",
    }
    return f"<table>{''.join(f'<tr><th>{name}</th><td>{fact}</td></tr>' for name, fact in facts.items())}</table>"
