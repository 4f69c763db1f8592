"""Formulae of the documentation: MathML that a browser understands, or a complaint."""

from __future__ import annotations

import importlib.util
import logging
import re
from pathlib import Path
from types import ModuleType, SimpleNamespace
from xml.etree import ElementTree

import pytest

DOCS = Path(__file__).parents[1] / "docs"
FENCED = re.compile(r"^```math\n(.*?)^```$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"(?<![\\$`\w])\$(\S[^$`\n]*)\$")
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
WITH_FORMULAE = ["deception.md", "gallery.md", "paper.md", "theory.md", "trust.md"]
EATEN = re.compile(r"\\[^A-Za-z]")  # what code hosts take for Markdown's own escapes, outside fences
PAGE = SimpleNamespace(file=SimpleNamespace(src_uri="a.md"))


@pytest.fixture(scope="module")
def mathml() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mathml", DOCS / "mathml.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", WITH_FORMULAE)
def test_every_formula_can_be_typeset(mathml: ModuleType, name: str) -> None:
    text = (DOCS / name).read_text()
    blocks, inline = FENCED.findall(text), INLINE.findall(CODE.sub("", text))
    assert blocks or inline
    for latex in blocks:
        mathml.typeset(latex.strip(), block=True)
    for latex in inline:
        assert not EATEN.search(latex), latex
        mathml.typeset(latex, block=False)


def test_a_page_is_left_as_it_is_but_for_its_formulae(mathml: ModuleType) -> None:
    page = r'<p><span class="arithmatex">\(x &lt; 1\)</span>, <code>\(y\)</code></p><div class="arithmatex">\[z\]</div>'
    shown = mathml.on_page_content(page, page=PAGE)
    assert [formula.attrib["display"] for formula in formulae(shown)] == ["inline", "block"]
    assert shown.startswith('<p><span class="formula"><math')
    assert "</math>,</span> <code>\\(y\\)</code></p>" in shown
    assert [part.text for part in formulae(shown)[0].iter() if part.text] == ["x", "<", "1"]


def test_limits_are_below_in_a_formula_of_its_own_only(mathml: ModuleType) -> None:
    assert kinds(mathml.typeset(r"\max_b v", block=True)).count("munder") == 1
    assert kinds(mathml.typeset(r"\max_b v", block=False)).count("munder") == 0


def test_primes_are_not_raised_twice(mathml: ModuleType) -> None:
    for latex in ("b'", "s'_i", "c_{s'}"):
        shown = mathml.typeset(latex, block=False)
        assert not {"msup", "msubsup"} & set(kinds(shown))
        assert "′" in shown


@pytest.mark.parametrize("latex", [r"\unheard", r"\Big\{ x", r"a & b", r"\frac{1}", "x_{"])
def test_what_is_not_understood_ends_a_strict_build(
    mathml: ModuleType, latex: str, caplog: pytest.LogCaptureFixture
) -> None:
    page = f'<span class="arithmatex">\\({latex}\\)</span>'
    with caplog.at_level(logging.WARNING):
        assert mathml.on_page_content(page, page=PAGE) == page
    assert caplog.messages[0].startswith("a.md: cannot typeset ")


def formulae(html: str) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(found) for found in re.findall(r"<math.*?</math>", html)]


def kinds(mathml: str) -> list[str]:
    return [part.tag.partition("}")[2] for part in ElementTree.fromstring(mathml).iter()]
