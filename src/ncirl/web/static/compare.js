// Compare: four defenders on the same draws, or of a whole graph its defence against four attackers; curves fill in.
import * as api from "./api.js";
import { lineChart } from "./charts.js";
import { atMost, by, intentColour, make, payoff } from "./dom.js";
import { freshSeed } from "./link.js";
import { on, state } from "./state.js";

const DEFENDERS = ["n-cirl", "ma-irl", "static", "uniform"];
const ATTACKERS = ["lifted", "random", "adaptive", "informed"];
const NOTES = {
  defenders: "Every defender meets the same draws. Lower is better for the defender; the band is a 95% interval.",
  attackers: "The defence of this policy against each attacker, on the same draws; the band is a 95% interval.",
};
let chart;
let points = [];
let running = null;

const isWhole = () => Boolean(state.contest?.matters && state.contest.solved);
const compared = () => (isWhole() ? ATTACKERS : DEFENDERS);

function redraw(episodes) {
  const curve = (name, k) => ({
    name,
    colour: intentColour(k),
    points: points.map((p) => [p.episode, p.means[name]]),
    half: points.map((p) => p.half_width[name] ?? 0),
  });
  const last = points.at(-1);
  const means = last && compared().map((name) => `${name} ${payoff(last.means[name])}`).join(", ");
  chart({
    series: compared().map(curve),
    x: [points[0]?.episode ?? 0, Math.max(episodes, points[0]?.episode + 1 || 1)],
    whole: true,
    xLabel: "plays",
    empty: "Start a comparison to see the curves",
    label: last && `After ${last.episode} plays the attacker gets: ${means}`,
  });
}

function fillTable() {
  const last = points.at(-1);
  by("compare-table").tBodies[0].replaceChildren(...compared().map((name, k) => make(
    "tr", {}, make("th", { scope: "row", "--colour": intentColour(k) }, name),
    make("td", { className: "number" }, payoff(last?.means[name])), make("td", { className: "number" }, payoff(last?.half_width[name])),
  )));
}

function show(isRunning, text) {
  by("compare").disabled = isRunning;
  by("compare-stop").disabled = !isRunning;
  by("compare-status").textContent = text;
}

function reset() {
  running?.abort();
  points = [];
  const whole = isWhole();
  by("opponents").hidden = by("defenders").hidden = whole;
  by("attackers").hidden = !whole;
  by("compare-who").textContent = whole ? "attacker" : "defender";
  by("compare-note").textContent = whole ? NOTES.attackers : NOTES.defenders;
  redraw(1);
  fillTable();
  show(false, whole ? `Other defenders need every state listed, which a graph guarded as a whole has not: here its own defence meets four attackers. Promised: at most ${atMost(state.contest.bounds.upper)} on average, whoever attacks.` : state.contest?.solved ? "Not started." : "Solve this contest first: the certified defender is one of the four.");
}

async function begin(event) {
  event.preventDefault();
  reset();
  running = new AbortController();
  const { signal } = running;
  const episodes = by("episodes").valueAsNumber;
  const settings = { episodes, seed: by("compare-seed").valueAsNumber, attacker: by("opponent").value };
  show(true, "Preparing the defenders…");
  try {
    const { job } = await api.compare(state.contest.id, settings);
    const stop = () => api.cancel(job).catch(() => {}); // it may have ended by itself
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop);
    for await (const { event: kind, data } of api.jobEvents(job, signal)) {
      if (kind === "point") {
        points.push(data);
        redraw(episodes);
        fillTable();
        show(true, `${data.episode} of ${episodes} plays.`);
      } else if (kind === "end") {
        if (data.error) throw new Error(data.error);
      }
    }
    const played = points.at(-1)?.episode ?? 0;
    show(false, played < episodes ? `Done: ${played} plays, as many as there was time for.` : `Done: ${played} plays.`);
  } catch (error) {
    if (!signal.aborted) show(false, error.message);
    else if (running.signal === signal) show(false, `Stopped after ${points.at(-1)?.episode ?? 0} plays.`);
  }
}

export function start() {
  chart = lineChart(by("compare-chart"));
  by("compare-seed").value = freshSeed();
  by("compare-form").addEventListener("submit", begin);
  by("compare-stop").addEventListener("click", () => running?.abort());
  on("contest", reset);
  reset();
}
