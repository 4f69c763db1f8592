// Look: what the contest is, what it is worth, what each intent can get.
import { jobEvents } from "./api.js";
import { atLeast, atMost, by, called, make, notify, share } from "./dom.js";
import { on, openContest, showTab, state } from "./state.js";

const counted = (n, one, many) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

function facts(contest) {
  const { sizes, horizon, matters } = contest;
  const whole = matters && [
    `${counted(matters.conditions, "condition", "conditions")} and ${counted(matters.exploits, "exploit", "exploits")}: what matters is drawn, the rest is folded`,
    `discount ${contest.discount}`,
    ...(horizon ? [counted(horizon, "stage", "stages")] : []),
  ];
  const parts = whole ?? [
    `${sizes.counted ? "" : "about "}${counted(sizes.states, "state", "states")}`,
    `up to ${counted(sizes.attacker_actions, "choice", "choices")} for the attacker and ${sizes.defender_actions.toLocaleString("en")} for the defender`,
    `discount ${contest.discount}`,
    ...(horizon ? [counted(horizon, "stage", "stages")] : []),
    contest.observes === "actions" ? "both see what was done" : "the defender sees only what came of it",
  ];
  return `${parts.join(" · ")}.`;
}

/** The server solves its examples when it starts: wait for that, then stand where we stood. */
async function awaitSolved({ id, job }) {
  for await (const { event } of jobEvents(job)) if (event === "end") break;
  const { role, intent, seed, moves } = state;
  if (state.contest.id === id && !state.contest.solved) await openContest(id, { role, intent, seed, moves });
}

/** What must I watch? The guards of a whole graph, with how likely each is blocked in the first stage. */
function watchRows({ guards }) {
  return guards.map((g) => make(
    "tr", {}, make("th", { scope: "row", title: `protects ${g.protects.join(", ")}` }, g.guard, make("small", {}, `${g.from.join(" and ")} → ${g.to.join(", ")}`)),
    make("td", { className: "number" }, g.blocked_now ? share(g.blocked_now) : "–"), make("td", { className: "number" }, String(g.block_cost)),
  ));
}

function showWatch({ matters, bounds }) {
  const [one, many, all] = matters?.controls != null ? ["control", "controls", matters.controls] : ["step", "steps", matters?.exploits];
  by("watch").hidden = !matters;
  if (!matters) return;
  by("guards").hidden = !matters.guards.length;
  by("guard-kind").textContent = one;
  by("guards").tBodies[0].replaceChildren(...watchRows(matters));
  const solved = matters.guards.length
    ? `These ${counted(matters.guards.length, one, many)} of ${all.toLocaleString("en")}, and no others.`
    : "Nothing: the bound holds even if nobody stops anything.";
  by("watch-said").textContent = bounds ? solved : "Solve it to know. Good ways to the goals are drawn meanwhile.";
  by("ways").replaceChildren(...matters.ways.map((way) => make("li", {}, make("strong", {}, way.intent), `: ${way.exploits.join(" → ")}`)));
}

/** Of which graph the numbers are, where this one was cut from another. */
function cut({ original }) {
  return original ? [make("p", { className: "note", id: "cut" }, `This graph was cut from ${original.cut_from}. ${original.says ?? ""}`)] : [];
}

function value({ bounds, doubt, job, matters, original }) {
  if (!bounds && job) return [make("p", {}, "The server is solving this example; a moment…")];
  if (!bounds) {
    const button = make("button", { type: "button", className: "main" }, "Solve it");
    button.addEventListener("click", () => showTab("solve"));
    return [make("p", {}, "Not solved yet: no value, no guarantee, nothing to play against."), button];
  }
  const { lower, upper } = bounds;
  const reach = Math.max(Math.abs(lower), Math.abs(upper)) * 1.15 || 1;
  const left = Math.min(0, lower) * 1.15;
  const place = (v) => `${(100 * (v - left)) / (reach - left)}%`;
  const whole = original ? "On the whole cut graph" : "On the whole graph";
  const first = matters ? `${whole} the` : original ? "On the cut graph the" : "The";
  return [
    make("p", {}, `${first} attacker gets between `, make("strong", {}, atLeast(lower)), " and ", make("strong", {}, atMost(upper)), " on average when both play well."),
    make("div", { className: "between", "--from": place(lower), "--to": place(upper), role: "img", "aria-label": `from ${atLeast(lower)} to ${atMost(upper)}` }, make("b")),
    ...(doubt ? [make("p", { className: "doubt", id: "doubt" }, doubt)] : []),
  ];
}

function guaranteeRows({ intents, guarantee, graph, matters }) {
  return intents.map(({ id, prior }) => {
    const goals = (graph?.conditions ?? []).filter((c) => c.rewards[id]).map((c) => `${matters ? c.label : called(c)} ${c.rewards[id]}`);
    return make(
      "tr", {}, make("th", { scope: "row" }, id), make("td", { className: "number" }, guarantee ? atMost(guarantee[id]) : "–"),
      make("td", { className: "short" }, share(prior)), make("td", {}, goals.join(", ") || "–"),
    );
  });
}

export function start() {
  on("contest", ({ contest }) => {
    by("title").textContent = contest.title;
    by("facts").textContent = facts(contest);
    showWatch(contest);
    by("value").replaceChildren(...value(contest), ...cut(contest));
    by("assumed").replaceChildren(...[`Unit: ${contest.unit}.`, ...contest.assumptions].map((line) => make("li", {}, line)));
    by("from").hidden = !contest.holding.length;
    by("from").textContent = `From: ${contest.holding.join(" + ")}, held already.`;
    by("nothing").hidden = !contest.nothing;
    by("nothing").textContent = contest.nothing ?? "";
    by("guarantee").tBodies[0].replaceChildren(...guaranteeRows(contest));
    document.title = `${contest.title} · ncirl`;
    if (!contest.solved && contest.job) awaitSolved(contest).catch((error) => notify(error.message));
  });
}
