"""The gallery: bounds enclose the formula, the page has every classic, figures are small."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from benchmarks.gallery import KNOWN, Bounds, bounds_over_p, draw, page

from ncirl.games.catalogue import CATALOGUE

ROOT = Path(__file__).parents[2]
LARGEST_FIGURE = 80_000  # bytes
ROUNDING = 1e-9


def test_bounds_enclose_the_formula() -> None:
    classic = CATALOGUE["big-match"]
    found = bounds_over_p(classic, 0.5, None, (0.25, 0.5))
    assert [b.p for b in found] == [0.25, 0.5]
    for b in found:
        assert b.lower - ROUNDING <= classic.exact(b.p, 0.5, None) <= b.upper + ROUNDING


def test_the_page_tells_every_classic() -> None:
    made_up = {
        name: {setting: [Bounds(0.5, 1.0, 1.25)] for setting in classic.shown} for name, classic in CATALOGUE.items()
    }
    text = page(made_up)
    for name, classic in CATALOGUE.items():
        assert f"`builtin:{name}`" in text
        assert all(source in text for source in classic.sources)
    assert "| γ = 0.9 | 0.5 | 1.00000 | – | 1.25000 |" in text


def test_a_figure_is_small_and_always_the_same(tmp_path: Path) -> None:
    classic = CATALOGUE["aumann-maschler-1"]
    curves = {setting: [Bounds(0.5, 0.4, 0.5)] for setting in classic.shown}
    for name in ("a.png", "b.png"):
        draw(classic, curves).savefig(tmp_path / name, metadata={"Software": None})
    first, second = ((tmp_path / name).read_bytes() for name in ("a.png", "b.png"))
    assert first == second
    assert len(first) < LARGEST_FIGURE


def test_the_shipped_page_has_the_typeset_formulae() -> None:
    shipped = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert list(KNOWN) == list(CATALOGUE)
    assert all(f"Known: {formula}\n" in shipped for formula in KNOWN.values())


@pytest.mark.parametrize("name", [name for name, classic in CATALOGUE.items() if classic.at is not None])
def test_the_shipped_page_shows_every_figure(name: str) -> None:
    assert f"images/gallery-{name}.png" in (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert 0 < (ROOT / "docs" / "images" / f"gallery-{name}.png").stat().st_size < LARGEST_FIGURE
