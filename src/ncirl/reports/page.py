"""One self-contained page: escaped text, tables, bars, and a style for light and dark screens and for paper.

Nothing is loaded from anywhere and nothing runs. Every text from outside goes through `text`.
"""

from collections.abc import Sequence
from html import escape

from ncirl.numbers import TELLABLE
from ncirl.reports.pictures.render import DARK, LIGHT, css_variables, intent_colour, plain_text

__all__ = ["Html", "bar", "dot", "page", "paragraph", "picture", "section", "table", "text"]

CSS = (
    f":root {{ color-scheme: light dark; {css_variables(LIGHT)} }}\n"
    f"@media (prefers-color-scheme: dark) {{ :root {{ {css_variables(DARK)} }} }}\n"
    f"@media print {{ :root {{ color-scheme: light; {css_variables(LIGHT | {'paper': '#ffffff'})} }} }}\n"
    """
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 62rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .5rem; padding-top: .9rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.5rem 0 .3rem; }
p { margin: .5rem 0; max-width: 46rem; }
.lead { font-size: 1.15rem; }
.note { color: var(--muted); font-size: .9rem; }
.bad { border: 2px solid var(--block); padding: .6rem .9rem; color: var(--block); font-weight: 600; }
.assumed { border-left: 3px solid var(--line); padding: .1rem 0 .1rem .9rem; font-size: .92rem; max-width: 50rem; }
.assumed ul { margin: .2rem 0; padding-left: 1.1rem; }
.figures { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.2rem 0; }
.figure { flex: 1 1 11rem; padding: .7rem .9rem; background: var(--box); border-radius: .5rem; }
.figure b { display: block; font-size: 1.5rem; font-variant-numeric: tabular-nums; }
.figure span { color: var(--muted); font-size: .88rem; }
.scroll { overflow-x: auto; margin: .8rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .32rem .8rem .32rem 0; border-bottom: 1px solid var(--box);
  overflow-wrap: anywhere; max-width: 24rem; }
th { color: var(--muted); font-weight: 600; overflow-wrap: normal; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.bars { min-width: 4rem; width: 22%; }
.bar { height: .8rem; margin-top: .38rem; background: var(--box); border-radius: .2rem; overflow: hidden; }
.bar { display: flex; }
.bar i { display: block; height: 100%; background: var(--intent-0); }
.bar i.pale { opacity: .35; }
.bar i.block { background: var(--block); }
.dot { display: inline-block; width: .7em; height: .7em; border-radius: 50%; margin-right: .4em; }
svg.picture { display: block; height: auto; }
.fit svg.picture { max-width: max(100%, 34rem); } .stories svg.picture { max-width: 100%; }
.stories { display: grid; grid-template-columns: repeat(auto-fit, minmax(24rem, 1fr)); gap: 1rem 2rem; }
.stories > div { min-width: 0; }
@media (max-width: 40rem) { .stories { grid-template-columns: 1fr; }
  td:last-child:not(.number):not(.bars) { min-width: 11rem; } }
footer { margin-top: 3rem; color: var(--muted); font-size: .85rem; }
@page { margin: 16mm; }
@media print { body { max-width: none; padding: 0; font-size: 10.5pt; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  h2, h3 { break-after: avoid; } tr, svg, .figure, .stories > div { break-inside: avoid; }
  .scroll { overflow: visible; } svg.picture, .fit svg.picture { max-width: 100%; }
  .stories { display: block; } .stories svg.picture { max-width: 62%; }
  table { font-size: 9pt; } td.bars { min-width: 2rem; width: 14%; } }
details { margin-top: 2.6rem; } summary { cursor: pointer; font-weight: 600; }
"""
)


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(value: object) -> Html:
    """Escape anything that is not HTML already."""
    return value if isinstance(value, Html) else Html(escape(plain_text(str(value))))


def page(title: str, body: Sequence[Html]) -> str:
    """Put a page together."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{text(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>\n{CSS}</style>\n</head>\n<body>\n" + "\n".join(body) + "\n</body>\n</html>\n"
    )


def section(title: str, *parts: Html) -> Html:
    """Return a section with its heading."""
    return Html(f"<section>\n<h2>{text(title)}</h2>\n" + "\n".join(parts) + "\n</section>")


def paragraph(words: str, kind: str = "") -> Html:
    """Return a paragraph."""
    return Html(f'<p class="{kind}">{text(words)}</p>' if kind else f"<p>{text(words)}</p>")


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], numbers: Sequence[int] = ()) -> Html:
    """Return a table; `numbers` are the places of columns to be set flush right, and bars know their own class."""
    head = "".join(
        f'<th class="number">{text(c)}</th>' if k in numbers else f"<th>{text(c)}</th>" for k, c in enumerate(columns)
    )
    lines = ["".join(_cell(value, k in numbers) for k, value in enumerate(row)) for row in rows]
    body = "".join(f"<tr>{line}</tr>\n" for line in lines)
    return Html(f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>')


def _cell(value: object, is_number: bool) -> str:
    if isinstance(value, Html) and value.startswith('<div class="bar"'):
        return f'<td class="bars">{value}</td>'
    return f'<td class="number">{text(value)}</td>' if is_number else f"<td>{text(value)}</td>"


def bar(value: float, kind: str = "", *, most: float = 0.0, top: float = 1.0) -> Html:
    """Return a bar, full at `top`; pale from `value` to `most`, for what is possible but not proved.

    Where `top` itself is nothing that could be told there is nothing to show.
    """
    share, possible = (value / top, most / top) if top > TELLABLE else (0.0, 0.0)
    sure = 100 * min(max(share, 0.0), 1.0)
    pale = max(0.0, 100 * min(possible, 1.0) - sure)
    rest = f'<i class="pale" style="width:{pale:.1f}%"></i>' if pale else ""
    return Html(f'<div class="bar"><i class="{kind}" style="width:{sure:.1f}%"></i>{rest}</div>')


def dot(k: int) -> Html:
    """Return the mark of the intent number `k` in its colour."""
    return Html(f'<span class="dot" style="background:var(--{intent_colour(k)})"></span>')


def picture(svg: str, *, fits: bool) -> Html:
    """Return a picture that scrolls, or shrinks to the width of the page."""
    return Html(f'<div class="scroll{" fit" if fits else ""}">{svg}</div>')
