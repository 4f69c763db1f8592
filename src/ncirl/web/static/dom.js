// Elements, messages and numbers: what every view needs.

export const by = (id) => document.getElementById(id);

/** Make an element: `make("a", { href: "/" }, "home")`. Text is always text, never markup. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("--")) element.style.setProperty(name, value);
    else if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Make an element of a picture; `--name` sets a CSS variable on it. */
export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("--")) element.style.setProperty(name, value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Say one sentence over the page; it stays until closed or replaced. */
export function notify(text, plain = false) {
  const notice = by("notice");
  notice.classList.toggle("plain", plain);
  notice.querySelector("p").textContent = text;
  notice.hidden = false;
}

export function hush() {
  by("notice").hidden = true;
}

export const payoff = (x) => (x === null || x === undefined ? "–" : x.toFixed(3).replace("-", "−"));

const PLACES = 3; // decimals, and digits of a small number
const MOST_PLACES = 12; // a smaller number is easier to read as a power of ten
const ROUNDING = 1e-14; // of a number: what is this near to a round one is written as that one

/** A bound, rounded to its safe side: `round` is Math.ceil from above, Math.floor from below. */
function bound(x, round) {
  if (x === null || x === undefined) return "–";
  if (x === 0) return "0";
  const places = Math.max(PLACES, PLACES - 1 - Math.floor(Math.log10(Math.abs(x))));
  if (places > MOST_PLACES) {
    const [digits, power] = x.toExponential(15).split("e");
    return `${round(Number(digits) * 10) / 10}e${power}`.replaceAll("-", "−");
  }
  const near = Number(x.toFixed(places));
  const said = Math.abs(near - x) <= ROUNDING * Math.abs(x) ? near : round(x * 10 ** places) / 10 ** places;
  return said.toFixed(places).replace("-", "−");
}

export const atMost = (x) => bound(x, Math.ceil);

export const atLeast = (x) => bound(x, Math.floor);

export function share(p) {
  if (p > 0 && p < 0.01) return "<1%";
  if (p < 1 && p > 0.99) return ">99%";
  return `${Math.round(100 * p)}%`;
}

const NAMED = 26; // characters of a name that are shown
const SHORT = 16;

/** What a thing is called in little room: its label where that is short or its id tells nobody anything, else its id. */
export const called = ({ id, label }) => (label && (label.length <= Math.max(SHORT, id.length) || id.length > NAMED || !/[a-z]{3}/i.test(id)) ? label : id);

export const listed = (names, none = "nothing") => (names.length ? names.join(", ") : none);

const INTENT_COLOURS = 8;

export const intentColour = (k) => `var(--intent-${k < INTENT_COLOURS ? k : "rest"})`;

/** What the page looks up for colours on a canvas: custom properties come unresolved, `color` does not. */
export function resolvedColour(name) {
  const probe = make("span", { hidden: true });
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}
