// In the middle of an incident: what the attacker holds already, chosen before a solve; it begins there.
import { by, make } from "./dom.js";
import { on, state } from "./state.js";

let held = [];
let changed = () => {};

/** What is chosen: ids of conditions, and of lasting controls in place. */
export const holding = () => held;

const lasting = () => (state.contest?.graph?.controls ?? []).filter((control) => control.kind === "lasting");

function show() {
  by("held").replaceChildren(...held.map((name) => {
    const button = make("button", { type: "button", "aria-label": `${name} is not held` }, "✕");
    button.addEventListener("click", () => toggle(name));
    return make("li", {}, name, button);
  }));
  by("held-said").textContent = held.length
    ? `The solve begins where ${held.join(" and ")} ${held.length === 1 ? "holds" : "hold"} beside the start.`
    : "The solve begins at the start. In the middle of an incident, name what the attacker holds by now: here, or by a click on its box in Look.";
}

/** Hold something, or not any more. */
export function toggle(name) {
  const known = state.contest?.graph?.conditions.find((condition) => condition.id === name);
  if (known?.initial || known?.folded) return;
  held = held.includes(name) ? held.filter((other) => other !== name) : [...held, name];
  show();
  changed();
}

function fill() {
  const { graph } = state.contest;
  by("holding").hidden = !graph;
  const names = graph ? [...graph.conditions.filter((c) => !c.initial && !c.folded), ...lasting()] : [];
  by("held-names").replaceChildren(...names.map((thing) => make("option", { value: thing.id }, thing.label)));
  held = [];
  by("held-name").value = "";
  show();
}

function add() {
  const name = by("held-name").value.trim();
  if (name && !held.includes(name)) toggle(name);
  by("held-name").value = "";
}

export function start(onChange) {
  changed = onChange;
  on("contest", fill);
  by("held-add").addEventListener("click", add);
  by("held-name").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    add();
  });
}
