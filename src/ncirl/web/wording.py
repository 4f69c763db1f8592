"""What importers say, in the words of the page: it has boxes to tick, and no options of a command line."""

import re

__all__ = ["on_page"]

START, GOALS = "“Where attackers begin”", "“What attackers may want”"
STEPS = "“Which kinds of edges are steps”"
END = r"(?=[\s,;:)]|\.?$)"  # of an option: a name that begins like one goes on
HERE = (  # what can be chosen on the page
    (rf"\bwith --initial{END}", f"under {START}"),
    (rf"(?<!\S)--initial{END}|(?<=\()--initial{END}", START),
    (rf"\bwith --goal(?: \(once for each\) or --intents)?{END}", f"under {GOALS}"),
    (rf"(?<!\S)--goal(?: or --intents)?{END}", GOALS),
    (r"\bwith --set steps=KIND,…", f"under {STEPS}"),
    (r"--set steps=… decides", f"{STEPS} decides"),
)
ELSEWHERE = (  # what cannot
    (r" \((?:see )?--[a-z][^()]*\)", ""),
    (r"[;,] --[a-z-]+(?: FILE)? (?:sets|replaces|says) (?:it|the same)", ""),
    (rf"(?<!\S)--([a-z]+(?:-[a-z]+)*){END}", r"the option \1 of `ncirl import`"),
)


def on_page(said: str) -> str:
    """Return a sentence of an importer as the page says it.

    Examples
    --------
    >>> on_page("no node is marked as owned; name where attackers begin with --initial, such as ANN")
    'no node is marked as owned; name where attackers begin under “Where attackers begin”, such as ANN'
    >>> on_page("it is likely (--success)")
    'it is likely'
    """
    for pattern, words in (*HERE, *ELSEWHERE):
        said = re.sub(pattern, words, said)
    return said
