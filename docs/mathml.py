r"""Typeset formulae as MathML while the pages are built: \(x\) → <math>, so that readers need no script and no font.

Pages say `$…$` and, between fences, `math`, which code hosts typeset too. `pymdownx.arithmatex` puts them between
`\(…\)` and `\[…\]`, and this hook of MkDocs replaces those. What cannot be typeset is a warning, and so ends a strict
build. (`\{`, `\,` and the like belong between fences only: code hosts take them for Markdown elsewhere.)
"""

import logging
import re
from html import unescape
from typing import Any
from xml.etree import ElementTree

from latex2mathml.converter import convert

MATHML = "http://www.w3.org/1998/Math/MathML"
FOUND = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>([).,;:]*)', re.DOTALL)
LEFT_OVER = re.compile(r">\s*(\\[^<]*|&amp;)<")
LIMITS_BELOW = {"max", "min"}  # in a formula of its own; the converter has them below sums only
PRIME = "′"
PARTS = {"mfrac": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}

log = logging.getLogger("mkdocs.plugins.mathml")
ElementTree.register_namespace("", MATHML)


def _named(kind: str) -> str:
    return f"{{{MATHML}}}{kind}"


def _primed(part: ElementTree.Element) -> ElementTree.Element:
    """Return x and its prime side by side: the sign is a raised one, which browsers would raise and shrink again."""
    both = ElementTree.Element(_named("mrow"))
    both.extend([part[0], part[-1]])
    return both


def typeset(latex: str, *, block: bool) -> str:
    """Return the MathML of a formula; raise `ValueError` if part of it is not understood."""
    try:
        tree = ElementTree.fromstring(convert(latex, display="block" if block else "inline"))
    except Exception as error:  # the converter's own errors have no common base
        raise ValueError(f"cannot typeset {latex}: {error!r}") from error
    for part in list(tree.iter()):
        kind, script = part.tag.partition("}")[2], part[-1].text if len(part) else None
        if len(part) != PARTS.get(kind, len(part)):
            raise ValueError(f"cannot typeset {latex}: a fraction, an index or a power lacks a part")
        if block and kind == "msub" and part[0].text in LIMITS_BELOW:
            part.tag = _named("munder")
        elif kind == "msup" and script == PRIME:
            part.tag = _named("mrow")
        elif kind == "msubsup" and script == PRIME:
            part.tag, part[:] = _named("msub"), [_primed(part), part[1]]
    mathml = ElementTree.tostring(tree, encoding="unicode")
    if left := LEFT_OVER.search(mathml):
        raise ValueError(f"cannot typeset {left[1]} in {latex}")
    return mathml


def on_page_content(html: str, *, page: Any, **_: Any) -> str:
    """Replace the formulae of a page."""

    def replaced(found: re.Match[str]) -> str:
        block = found[2] == "["
        try:
            mathml = typeset(unescape(found[3]).strip(), block=block)
        except ValueError as error:
            log.warning("%s: %s", page.file.src_uri, error)
            return found[0]
        if block:
            return f'<div class="formula" tabindex="0" data-search-exclude>{mathml}</div>{found[4]}'
        return f'<span class="formula">{mathml}{found[4]}</span>'

    return FOUND.sub(replaced, html)
