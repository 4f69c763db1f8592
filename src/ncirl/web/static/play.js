// Play: attack, defend or watch; every step is a replay of the seed and the moves.
import * as api from "./api.js";
import { showTicks } from "./board.js";
import { lineChart } from "./charts.js";
import { atLeast, atMost, by, intentColour, listed, make, notify, payoff, share } from "./dom.js";
import { freshSeed } from "./link.js";
import { attempt, on, openContest, playTo, state } from "./state.js";

const FEW = 4; // names in a line
const PAUSE = 800; // milliseconds between the steps of autoplay
const ENDED = { terminal: "Over", horizon: "Time is up", cap: "Broken off" };
let chart;
let added = []; // usable exploits of a whole graph that a search found
let resolving = null;
let picked = []; // exploits that are ticked, or the one action that is chosen
let timer = null;

const bySets = () => Boolean(state.contest.graph);
const hasControls = () => Boolean(state.contest.graph?.controls);
const byControls = () => state.role === "defender" && hasControls();
const verb = () => (state.role === "attacker" ? "try" : byControls() ? "apply" : "block");

/** Exploits, or controls, to choose among now; of a whole graph the likely ones, and those that were searched for. */
function usable() {
  const { options: listed, controls } = state.play.now;
  if (byControls() && controls) return controls;
  if (listed) return [...added.filter((e) => listed.every((other) => other.id !== e.id)), ...listed];
  const names = new Set(state.play.now.usable);
  return state.contest.graph[byControls() ? "controls" : "exploits"].filter((e) => names.has(e.id));
}

const few = (names) => (names.length > FEW ? `${names.slice(0, FEW).join(", ")} and ${names.length - FEW} more` : names.join(", "));

function controlText(control) {
  return `costs ${control.cost}${control.kind === "lasting" ? " once, stays" : ""} · stops ${few(control.blocks)}`;
}

function exploitText(exploit) {
  const { block, attempt: tried } = state.play.now;
  if (state.role === "attacker") return `${share(exploit.success)} · costs ${exploit.attack_cost} · ▣ ${share(block[exploit.id] ?? 0)}`;
  return `costs ${exploit.block_cost} · ➤ ${share(tried[exploit.id] ?? 0)}`;
}

function option(type, value, text, extra, title) {
  const input = make("input", { type, name: "choice", value });
  input.addEventListener("change", () => pick(value, input.checked));
  return make("label", { title }, input, make("span", {}, text), make("small", {}, extra));
}

function options() {
  const { role, play, contest } = state;
  if (!contest.solved) return [make("p", {}, "Solve this contest first, then play against what came out.")];
  if (play.over && !play.summary) return [make("p", {}, "Nothing is left to attempt.")];
  if (play.over) return summary(play.summary);
  if (role === "told") return told();
  if (role === "watch") return [make("p", {}, "Both sides play as certified. Step, or let it run.")];
  if (!bySets()) return play.now.choices.map((choice) => option("radio", choice.name, choice.label ?? choice.name, "", ""));
  if (byControls()) return usable().map((c) => option("checkbox", c.id, c.id, controlText(c), c.label));
  return usable().map((e) => option("checkbox", e.id, e.id, [...(e.label && e.label !== e.id ? [e.label] : []), exploitText(e)].join(" · "), `${e.label ?? e.id}: ${e.from.join(" and ")} → ${e.to}`));
}

/** Rows in which to tell what happened elsewhere: tried, blocked, worked. */
function told() {
  const { advice, block, controls } = state.play.now;
  const box = (kind, e, checked) => make("input", { type: "checkbox", value: e.id, "data-told": kind, checked, "aria-label": `${kind}: ${e.id}` });
  const kinds = [...(advice.sees_attempts ? ["tried"] : []), ...(controls ? [] : ["blocked"]), "worked", ...(advice.hears_alerts ? ["alert"] : [])];
  const rows = usable().map((e) => make(
    "tr", { title: `${e.from.join(" and ")} → ${e.to}` }, make("th", { scope: "row" }, e.id, block[e.id] ? make("small", {}, `▣ ${share(block[e.id])}`) : ""),
    ...kinds.map((kind) => make("td", {}, box(kind, e, kind === "blocked" && advice.drawn.includes(e.id)))),
  ));
  const head = make("tr", {}, make("th", { scope: "col" }, "step"), ...kinds.map((kind) => make("th", { scope: "col" }, kind)));
  const table = make("table", { id: "told" }, make("thead", {}, head), make("tbody", {}, ...rows));
  if (!controls) return [table];
  const applied = controls.map((c) => make(
    "tr", { title: c.label }, make("th", { scope: "row" }, c.id, make("small", {}, controlText(c))), make("td", {}, box("applied", c, advice.drawn.includes(c.id))),
  ));
  const its = make("tr", {}, make("th", { scope: "col" }, "control"), make("th", { scope: "col" }, "applied"));
  return [table, make("table", { className: "told" }, make("thead", {}, its), make("tbody", {}, ...applied))];
}

const toldOf = (kind) => [...by("choices").querySelectorAll(`input[data-told="${kind}"]:checked`)].map((box) => box.value);

function toldMove() {
  const gives = Object.fromEntries(usable().map((e) => [e.id, e.to]));
  const enabled = [...new Set(toldOf("worked").map((id) => gives[id]))];
  return { attempted: toldOf("tried"), blocked: toldOf(hasControls() ? "applied" : "blocked"), new: enabled, alerts: toldOf("alert") };
}

function summary({ got, guarantee, best_response: best, intent }) {
  const row = (name, number) => make("tr", {}, make("th", { scope: "row" }, name), make("td", { className: "number" }, payoff(number)));
  const who = { attacker: "You got" }[state.role] ?? "The attacker got";
  const cutOnly = state.contest.original && !state.contest.original.upper ? ", on the cut graph only" : "";
  const rows = [row(`${who}, this time`, got), row(`The guarantee: at most, on average${cutOnly}`, guarantee)];
  if (best !== null) rows.push(row("A best response gets, on average", best));
  const lucky = got > guarantee;
  return [
    make("p", {}, "The intent was ", make("strong", {}, intent), "."),
    make("table", { className: "summary", id: "summary" }, make("tbody", {}, ...rows)),
    make("p", { className: "note" }, lucky ? "More than the guarantee: one play can be lucky, the average cannot." : "The guarantee speaks of the average over many plays."),
  ];
}

function title() {
  const { role, play, contest } = state;
  if (!contest.solved) return "Nothing to play against yet";
  if (play.over) return `${ENDED[play.ended]} after ${play.stages.length} stages`;
  const stage = `Stage ${play.stages.length + 1}`;
  if (role === "watch") return stage;
  if (role === "told") return `${stage}: what happened?`;
  if (!bySets()) return `${stage}: choose`;
  return `${stage}: what do you ${verb()}?`;
}

const tooMany = () => bySets() && picked.length > state.play.now.most;

/** Why nothing is done now; empty where something is. */
function whyNothing() {
  const { play, contest, role } = state;
  if (!["told", "defender", "watch"].includes(role)) return "";
  const { advice } = play.now;
  if (advice) return advice.drawn.length ? "" : ` ${advice.why.join(" ")}`;
  return contest.nothing && !play.stages.length ? ` Advice: ${hasControls() ? "apply" : "block"} nothing. ${contest.nothing}` : "";
}

function plan() {
  if (!state.play || state.play.over) return "";
  if (state.role === "watch") return whyNothing().trim();
  const { advice, usable_count: all, options, controls } = state.play.now;
  const some = byControls() ? controls : options;
  const rest = some && all > some.length ? ` ${all - some.length} more are possible: search for them.` : "";
  const deed = hasControls() ? "apply" : "block";
  if (state.role === "told") return `Advice: ${deed} ${listed(advice.drawn)}.${whyNothing()} ${advice.notes.join(" ")}${rest}`;
  if (!bySets()) return picked.length ? `You choose ${picked[0]}.` : "Choose one.";
  if (tooMany()) return `At most ${state.play.now.most} in one stage: untick some.`;
  const said = picked.length ? `You ${verb()} ${picked.join(" and ")}.` : `You ${verb()} nothing this stage.`;
  const drawn = advice && state.role === "defender" ? ` Advice: ${deed} ${listed(advice.drawn)}.${whyNothing()}` : whyNothing();
  return `${said}${drawn}${rest}`;
}

function refresh() {
  by("turn-title").textContent = title();
  by("plan").textContent = plan();
  const over = !state.play || state.play.over;
  by("again").hidden = !state.contest?.matters || !state.contest.solved || !["told", "defender"].includes(state.role);
  by("resolve").disabled = over || resolving !== null;
  by("role-told").hidden = !state.contest?.matters;
  by("step").disabled = over || (!["watch", "told"].includes(state.role) && (bySets() ? tooMany() : !picked.length));
  by("undo").disabled = !state.moves.length;
  by("autoplay").disabled = over || state.role === "told";
}

function pick(value, isOn) {
  if (bySets()) picked = isOn ? [...picked.filter((v) => v !== value), value] : picked.filter((v) => v !== value);
  else picked = [value];
  if (bySets()) showTicks(byControls() ? usable().filter((c) => picked.includes(c.id)).flatMap((c) => c.blocks) : picked);
  refresh();
}

/** Tick the exploit that was clicked in the graph, or the first control over it. */
export function toggle(exploit) {
  const meant = byControls() && state.play?.now ? usable().find((c) => c.blocks.includes(exploit))?.id : exploit;
  const input = [...by("choices").querySelectorAll("input")].find((box) => box.value === meant);
  if (state.tab === "play") input?.click();
}

/** Tick an exploit that a search found, listed or not; return whether it can be done now. */
export function add(exploit) {
  if (state.tab !== "play" || !state.play?.now?.options || state.role === "watch") return false;
  const enabled = new Set(state.play.now.enabled);
  if (enabled.has(exploit.to) || !exploit.from.every((c) => enabled.has(c))) return false;
  if (byControls()) {
    if (!usable().some((c) => c.blocks.includes(exploit.id))) return false;
    toggle(exploit.id);
    return true;
  }
  if (usable().every((e) => e.id !== exploit.id)) {
    const before = state.role === "told" ? ["tried", "blocked", "applied", "worked", "alert"].map((kind) => [kind, toldOf(kind)]) : [];
    added = [exploit, ...added];
    const kept = picked;
    by("choices").replaceChildren(...options());
    for (const [kind, ids] of before) for (const box of by("choices").querySelectorAll(`input[data-told="${kind}"]`)) box.checked = ids.includes(box.value);
    picked = [];
    for (const box of by("choices").querySelectorAll('input[name="choice"]')) if (kept.includes(box.value)) box.click();
  }
  if (state.role === "told") by("choices").querySelector("input")?.focus();
  else if (!picked.includes(exploit.id)) toggle(exploit.id);
  return true;
}

/** Tick or choose by number, from 0. */
export function toggleNumber(k) {
  by("choices").querySelectorAll("input")[k]?.click();
}

function move() {
  if (state.role === "watch") return null;
  if (state.role === "told") return toldMove();
  return bySets() ? picked : picked[0];
}

export const step = () => attempt(async () => {
  if (!by("step").disabled) await playTo({ moves: [...state.moves, move()] });
});

/** Look for a better defence from where the play stands; what no intent gains by is opened. */
const solveAgain = () => attempt(async () => {
  const { contest, role, intent, seed, moves } = state;
  const say = (text) => { by("resolve-said").textContent = text; };
  resolving = contest.id;
  refresh();
  say("Looking for a better defence from here…");
  try {
    const { job } = await api.resolve({ contest: contest.id, role, intent, seed, moves, time_limit: by("resolve-seconds").valueAsNumber });
    for await (const { event, data } of api.jobEvents(job)) {
      if (event !== "end") continue;
      if (data.error) say(data.error);
      else if (state.contest.id === contest.id) {
        say("No intent gains by it: this is the new defence, from where you stood.");
        await openContest(data.contest, { role, intent });
      }
    }
  } catch (error) {
    say(error.message);
  } finally {
    resolving = null;
    refresh();
  }
});

export const undo = () => attempt(async () => {
  stopAutoplay();
  if (state.moves.length) await playTo({ moves: state.moves.slice(0, -1) });
});

export const restart = () => attempt(async () => {
  stopAutoplay();
  await playTo({ moves: [] });
});

function stopAutoplay() {
  clearTimeout(timer);
  timer = null;
  by("autoplay").setAttribute("aria-pressed", "false");
}

async function autostep() {
  const done = await attempt(async () => {
    await playTo({ moves: [...state.moves, null] });
    return true;
  });
  if (!done || !state.play || state.play.over) stopAutoplay();
  else if (timer !== null) timer = setTimeout(autostep, PAUSE);
}

export function autoplay() {
  if (timer !== null) return stopAutoplay();
  if (by("autoplay").disabled) return undefined;
  by("autoplay").setAttribute("aria-pressed", "true");
  timer = setTimeout(autostep, 0);
  return undefined;
}

function logEntry(stage, k) {
  const unseen = stage.attacker_action === null;
  const did = bySets()
    ? [`tried ${unseen ? "what nobody saw" : listed(stage.attempted)}`, `${hasControls() ? "applied" : "blocked"} ${listed(stage.blocked)}`]
    : [`attacker ${unseen ? "unseen" : stage.attacker_action}`, `defender ${stage.defender_action}`];
  if (stage.new.length) did.push(`fell: ${stage.new.join(", ")}`);
  if (stage.surprise) did.push("(the certified attacker would never)");
  const reward = make("span", { className: "number", title: "what the attacker got" }, payoff(stage.reward));
  return make("li", {}, make("span", {}, `${k + 1}`), make("span", {}, did.join(" · ")), reward);
}

function showBeliefOverTime() {
  const { contest, play } = state;
  const prior = Object.fromEntries(contest.intents.map((i) => [i.id, i.prior]));
  const beliefs = play?.stages.length ? [prior, ...play.stages.map((s) => s.belief)] : [];
  chart({
    series: contest.intents.map(({ id }, k) => ({ name: id, colour: intentColour(k), points: beliefs.map((b, t) => [t, b[id] ?? 0]) })),
    x: [0, Math.max(beliefs.length - 1, 1)],
    y: [0, 1],
    percent: true,
    whole: true,
    dots: true,
    xLabel: "stage",
    empty: "The belief over time appears here",
    label: beliefs.length && `The belief after ${beliefs.length - 1} stages: ${contest.intents.map(({ id }) => `${id} ${share(beliefs.at(-1)[id] ?? 0)}`).join(", ")}`,
  });
}

function fillIntents() {
  const { contest, role, intent } = state;
  const drawn = make("option", { value: "" }, "drawn by the seed");
  const names = contest.intents.map(({ id }) => make("option", { value: id, selected: id === intent }, id));
  by("intent").replaceChildren(...(role === "attacker" ? names : [drawn, ...names]));
}

/** How much what is played can be relied on: the bounds, and a warning where they lie far apart. */
function showSure({ bounds, doubt }) {
  by("sure").hidden = !bounds;
  by("sure").classList.toggle("doubt", Boolean(doubt));
  if (bounds) by("sure").textContent = `This defence concedes at most ${atMost(bounds.upper)} on average, none less than ${atLeast(bounds.lower)}. ${doubt ?? ""}`;
}

function showPlay() {
  picked = [];
  added = [];
  by("play-form").elements.role.value = state.role;
  if (document.activeElement !== by("seed")) by("seed").value = state.seed;
  fillIntents();
  const focused = by("choices").contains(document.activeElement) ? document.activeElement.value : null;
  by("choices").replaceChildren(...options());
  if (focused !== null) ([...by("choices").querySelectorAll("input")].find((box) => box.value === focused) ?? by("step")).focus();
  by("log").replaceChildren(...(state.play?.stages ?? []).map(logEntry).reverse());
  showBeliefOverTime();
  refresh();
}

function newGame(event) {
  event.preventDefault();
  stopAutoplay();
  const given = by("seed").valueAsNumber;
  const seed = given === state.seed ? freshSeed() : given; // one that was not typed is of the game before
  by("seed").value = seed;
  attempt(() => playTo({ role: state.role, intent: by("intent").value || null, seed, moves: [] }));
}

function changeRole(role) {
  stopAutoplay();
  const intent = role === "attacker" ? (state.intent ?? state.contest.intents[0].id) : null;
  attempt(() => playTo({ role, intent, seed: freshSeed(), moves: [] }));
}

async function copyLink() {
  await navigator.clipboard.writeText(location.href);
  notify("The link is copied. It holds the seed and the moves: whoever opens it stands where you stand.", true);
}

export function start() {
  chart = lineChart(by("belief-chart"));
  by("play-form").addEventListener("submit", newGame);
  for (const radio of by("play-form").elements.role) radio.addEventListener("change", () => changeRole(radio.value));
  by("intent").addEventListener("change", () => by("play-form").requestSubmit());
  by("step").addEventListener("click", step);
  by("undo").addEventListener("click", undo);
  by("autoplay").addEventListener("click", autoplay);
  by("resolve").addEventListener("click", solveAgain);
  by("share").addEventListener("click", () => copyLink().catch(() => notify(`Copy this link: ${location.href}`, true)));
  on("contest", stopAutoplay);
  on("contest", ({ contest }) => showSure(contest));
  on("play", showPlay);
  on("tab", ({ tab }) => tab === "play" || stopAutoplay());
}

