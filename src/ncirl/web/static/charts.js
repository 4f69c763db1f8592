// Line charts: told apart by dash and by name at the line's end, not by colour alone.
import { draw } from "./dom.js";

const DASHES = ["none", "7 4", "2 3", "10 3 2 3", "14 5", "5 2", "1 5", "12 3 2 3 2 3"];
const MARGIN = { top: 12, bottom: 34, left: 46, right: 82 };
const LABEL_HEIGHT = 15;

function niceStep(span, about) {
  const raw = span / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].find((m) => m * power >= raw) * power;
}

function ticks(low, high, about, least = 0) {
  const step = Math.max(niceStep(high - low || 1, about), least);
  const marks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) marks.push(k * step);
  return { marks, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

/** Move labels apart so that none covers another, in the order of the lines' ends. */
function spread(places, low, high) {
  const order = places.map((y, k) => [y, k]).sort((a, b) => a[0] - b[0]);
  let floor = low;
  for (const entry of order) floor = (entry[0] = Math.max(entry[0], floor)) + LABEL_HEIGHT;
  let ceiling = high;
  for (const entry of order.toReversed()) ceiling = (entry[0] = Math.min(entry[0], ceiling)) - LABEL_HEIGHT;
  return Object.fromEntries(order.map(([y, k]) => [k, y]));
}

/**
 * Draw `series`, each `{name, colour, points: [[x, y], …], half?: [h, …], step?: true}`.
 * `fill` paints the room between the first two; `y` fixes the vertical range; `empty` is said before there is anything;
 * `dots` marks the points, `whole` keeps the marks below to whole numbers.
 */
function paint(svg, { series, x, y, fill = false, xLabel, empty, percent = false, whole = false, dots = false }) {
  const { width, height } = svg.getBoundingClientRect();
  if (!width || !height) return;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const [left, right, top, bottom] = [MARGIN.left, width - MARGIN.right, MARGIN.top, height - MARGIN.bottom];
  const shown = series.filter((s) => s.points.length);
  const xs = shown.flatMap((s) => s.points.map((p) => p[0]));
  const ys = shown.flatMap((s) => s.points.flatMap((p, k) => [p[1] - (s.half?.[k] ?? 0), p[1] + (s.half?.[k] ?? 0)]));
  const [x0, x1] = x ?? [Math.min(...xs, Infinity), Math.max(...xs, -Infinity)];
  let [y0, y1] = y ?? [Math.min(...ys), Math.max(...ys)];
  if (!y && shown.length) {
    const finest = 1e-6 * Math.max(Math.abs(y0), Math.abs(y1)); // bounds that meet: marks must be told apart
    const room = Math.max(0.06 * (y1 - y0), finest) || 0.1;
    [y0, y1] = [y0 - room, y1 + room];
  }
  if (!shown.length) {
    svg.replaceChildren(
      draw("line", { class: "axis", x1: left, x2: width - 8, y1: bottom, y2: bottom }),
      draw("line", { class: "axis", x1: left, x2: left, y1: top, y2: bottom }),
      draw("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, empty),
    );
    return;
  }
  const toX = (v) => left + ((v - x0) / (x1 - x0 || 1)) * (right - left);
  const toY = (v) => bottom - ((v - y0) / (y1 - y0 || 1)) * (bottom - top);
  const parts = [];
  const vertical = ticks(y0, y1, Math.max(2, (bottom - top) / 45));
  for (const mark of vertical.marks) {
    parts.push(draw("line", { class: "grid", x1: left, x2: right, y1: toY(mark), y2: toY(mark) }));
    const text = percent ? `${Math.round(100 * mark)}%` : mark.toFixed(vertical.digits);
    parts.push(draw("text", { x: left - 6, y: toY(mark) + 4, "text-anchor": "end" }, text));
  }
  const across = ticks(x0, x1, Math.max(2, (right - left) / 80), whole ? 1 : 0);
  for (const mark of across.marks) parts.push(draw("text", { x: toX(mark), y: bottom + 16, "text-anchor": "middle" }, mark.toFixed(across.digits)));
  parts.push(draw("line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom }));
  parts.push(draw("text", { x: (left + right) / 2, y: height - 4, "text-anchor": "middle" }, xLabel));
  const corners = (s, at) => s.points.map((p, k) => {
    const before = s.points[k - 1];
    return `${s.step && before ? `${toX(p[0])},${toY(at(before, k - 1))} ` : ""}${toX(p[0])},${toY(at(p, k))}`;
  });
  const value = (p) => p[1];
  if (fill && shown.length > 1) {
    const there = corners(shown[0], value).join(" ").split(" ");
    const back = corners(shown[1], value).join(" ").split(" ").reverse();
    parts.push(draw("polygon", { class: "band", points: [...there, ...back].join(" "), "--colour": shown[0].colour }));
  }
  for (const s of shown) {
    if (!s.half) continue;
    const upper = corners(s, (p, k) => p[1] + s.half[k]);
    const lower = corners(s, (p, k) => p[1] - s.half[k]).reverse();
    parts.push(draw("polygon", { class: "band", points: [...upper, ...lower].join(" "), "--colour": s.colour }));
  }
  const ends = shown.map((s) => toY(s.points.at(-1)[1]) + 4);
  const places = spread(ends, top + 4, bottom + 4);
  shown.forEach((s, k) => {
    const dash = DASHES[series.indexOf(s) % DASHES.length];
    parts.push(draw("polyline", { class: "line", points: corners(s, value).join(" "), "stroke-dasharray": dash, "--colour": s.colour }));
    if (dots) {
      for (const [px, py] of s.points) parts.push(draw("circle", { class: "dot", cx: toX(px), cy: toY(py), r: 3, "--colour": s.colour }));
    }
    const name = s.name.length > 12 ? `${s.name.slice(0, 11)}…` : s.name;
    parts.push(draw("text", { class: "name", x: right + 6, y: places[k], "--colour": s.colour }, name));
  });
  svg.replaceChildren(...parts);
}

/** Return a function that draws on `svg` what it is given, and again whenever the size changes. */
export function lineChart(svg) {
  let content = { series: [], xLabel: "", empty: "" };
  new ResizeObserver(() => paint(svg, content)).observe(svg);
  return (next) => {
    content = next;
    svg.setAttribute("aria-label", next.label ?? next.empty);
    paint(svg, content);
  };
}
