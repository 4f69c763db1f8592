// Search: all exploits and conditions of the graph, drawn or folded; the server looks, for it has them all.
import * as api from "./api.js";
import { by, listed, make, share } from "./dom.js";
import { on, state } from "./state.js";

const PAUSE = 200; // milliseconds without a key before the server is asked
let timer = null;
let asked = null;
let tick = () => false;
let hold = () => {};

function exploitRow(e) {
  const button = make("button", { type: "button", hidden: state.tab !== "play" }, "Take");
  button.addEventListener("click", () => {
    if (tick(e)) hide();
    else by("search-count").textContent = `“${e.id}” cannot be attempted now.`;
  });
  const guard = (state.contest.matters?.guards ?? []).some((g) => g.guard === e.id);
  const facts = `${share(e.success)} · costs ${e.attack_cost} · blocking costs ${e.block_cost}${guard ? " · watched" : ""}`;
  return make("li", {}, button, make("strong", {}, e.id), make("small", {}, e.means), make("small", {}, facts));
}

function conditionRow(c) {
  const button = make("button", { type: "button", hidden: state.tab !== "look" || c.initial }, "Held");
  button.addEventListener("click", () => {
    hold(c.id);
    hide();
  });
  const goals = Object.entries(c.rewards).map(([intent, reward]) => `${reward} to ${intent}`);
  const facts = [c.initial ? "held from the start" : "condition", ...(goals.length ? [`★ worth ${listed(goals)}`] : [])];
  return make("li", {}, button, make("strong", {}, c.label), make("small", {}, `${c.id === c.label ? "" : `${c.id} · `}${facts.join(" · ")}`));
}

function hide() {
  clearTimeout(timer);
  asked?.abort();
  by("found").hidden = true;
  by("search-count").textContent = "";
}

async function look() {
  const text = by("search-text").value.trim();
  hide();
  if (!text) return;
  asked = new AbortController();
  try {
    const { conditions, exploits, count } = await api.find(state.contest.id, text, asked.signal);
    by("found").replaceChildren(...exploits.map(exploitRow), ...conditions.map(conditionRow));
    by("found").hidden = !count;
    const shown = conditions.length + exploits.length;
    by("search-count").textContent = count > shown ? `${shown} of ${count.toLocaleString("en")} found` : `${count} found`;
  } catch (error) {
    if (error.name !== "AbortError") by("search-count").textContent = error.message;
  }
}

export function start(onTake, onHold) {
  tick = onTake;
  hold = onHold;
  by("search").addEventListener("submit", (event) => {
    event.preventDefault();
    look();
  });
  by("search-text").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, PAUSE);
  });
  by("search").addEventListener("keydown", (event) => event.key === "Escape" && hide());
  addEventListener("pointerdown", (event) => by("search").contains(event.target) || hide());
  on("contest", () => {
    by("search-text").value = "";
    hide();
  });
  on("tab", () => by("found").hidden || look()); // what can be taken depends on it
}
