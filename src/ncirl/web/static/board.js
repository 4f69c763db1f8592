// The left of the page: the graph and where the play stands, shared by Look and Play.
import { beliefBars } from "./beliefs.js";
import { by, called, make, share } from "./dom.js";
import { GraphView } from "./graph.js";
import { holding, toggle as hold } from "./holding.js";
import { on, state } from "./state.js";

let view;
let setBeliefs;
let ticked = [];

/** Return the stage that was played last, or undefined. */
export const lastStage = () => state.play?.stages.at(-1);

/** Where the play stands: at its end too. */
const place = () => state.play?.now ?? state.play?.final;

/** Return what has fallen by now. */
function enabledNow() {
  return place()?.enabled ?? (state.contest.graph?.conditions ?? []).filter((c) => c.initial).map((c) => c.id);
}

const prior = () => Object.fromEntries(state.contest.intents.map((intent) => [intent.id, intent.prior]));

function beliefNow() {
  return state.play?.now?.belief ?? lastStage()?.belief ?? prior();
}

export function showTicks(exploits) {
  ticked = exploits;
  paint();
}

function paint() {
  const { contest, play, role, intent } = state;
  if (!contest) return;
  const own = role === "attacker" && play && state.tab === "play" ? intent : null;
  setBeliefs(beliefNow(), own);
  const stages = play?.stages.length ?? 0;
  by("where").textContent = stages ? `After ${stages} stage${stages === 1 ? "" : "s"}: ${place().state}` : "At the start";
  const { block = {}, attempt = {} } = play?.now ?? {};
  if (contest.graph) {
    view.paint({ enabled: enabledNow(), fresh: lastStage()?.new ?? [], block, attempt, ticked, held: state.tab === "look" ? holding() : [], intent: own });
    fillOdds(block, attempt);
  } else {
    fillMix();
  }
}

/** What stopping an exploit costs: by itself, or by each control over it. */
function stoppedFor(graph, exploit) {
  if (!graph.controls) return exploit.block_cost;
  const over = graph.controls.filter((c) => c.blocks.includes(exploit.id));
  return over.map((c) => `${c.id} ${c.cost}${c.kind === "lasting" ? " once" : ""}`).join(", ") || "cannot be stopped";
}

function fillListing(graph) {
  const names = Object.fromEntries(graph.conditions.map((c) => [c.id, called(c)]));
  const cell = (text, className = "") => make("td", { className }, String(text));
  by("exploits").tBodies[0].replaceChildren(...graph.exploits.filter((e) => !e.folded).map((e) => make(
    "tr", { "data-exploit": e.id },
    make("th", { scope: "row", title: e.label ?? e.id }, e.id, e.label && e.label !== e.id ? make("small", {}, e.label) : ""), cell("", "number"), cell("", "number"), cell(e.from.map((c) => names[c]).join(" and ")), cell(names[e.to]),
    cell(share(e.success), "number"), cell(e.attack_cost, "number"), cell(stoppedFor(graph, e)),
  )));
}

function fillOdds(block, attempt) {
  for (const row of by("exploits").tBodies[0].rows) {
    const id = row.dataset.exploit;
    row.cells[1].textContent = id in block ? share(block[id]) : "–";
    row.cells[2].textContent = id in attempt ? share(attempt[id]) : "–";
  }
}

function fillMix() {
  const now = state.play?.now;
  const mix = now?.defender_mix ?? [];
  const rows = mix.map((choice) => make(
    "div", { className: "belief" }, make("span", { title: choice.name }, choice.name),
    make("div", { className: "bar", "--share": `${100 * choice.probability}%`, "--colour": "var(--block)" }, make("b")),
    make("span", { className: "number" }, share(choice.probability)),
  ));
  const why = state.contest.graph
    ? "This graph is too large to draw; the list below has its exploits."
    : `This contest is a game in tables: there is no graph to draw. State: ${place()?.state ?? "start"}.`;
  const what = mix.length ? "What the certified defender does now:" : "Solve this contest to see what a certified defender does.";
  by("no-graph").replaceChildren(make("p", {}, why), make("h3", {}, what), ...rows);
}

function showContest() {
  const { graph, matters } = state.contest;
  const drawn = Boolean(graph) && GraphView.canDraw(graph);
  by("graph").hidden = !drawn;
  by("no-graph").hidden = drawn;
  by("legend").hidden = !drawn;
  by("listing").hidden = !graph;
  setBeliefs = beliefBars(state.contest);
  ticked = [];
  if (graph) fillListing(graph);
  by("search").hidden = !graph;
  by("folded-key").hidden = by("watched-key").hidden = !matters;
  if (drawn) view.show(graph, matters && matters.guards.flatMap((g) => g.stops));
  else fillMix();
  paint();
}

export function start(onTick) {
  view = new GraphView(by("graph"), onTick, (condition) => state.tab === "look" && hold(condition));
  on("contest", showContest);
  on("play", () => showTicks([]));
  on("tab", () => {
    paint();
    view.ready.then(() => view.arrange());
  });
}

/** Show again where the play stands and what is held. */
export const repaint = () => paint();

export const recolour = () => view.recolour();
