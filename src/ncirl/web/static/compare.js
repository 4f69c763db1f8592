// Compare: four defenders on the same draws, curves that fill in as the plays come.
import * as api from "./api.js";
import { lineChart } from "./charts.js";
import { by, intentColour, make, payoff } from "./dom.js";
import { freshSeed } from "./link.js";
import { on, state } from "./state.js";

const DEFENDERS = ["n-cirl", "ma-irl", "static", "uniform"];
let chart;
let points = [];
let running = null;

function redraw(episodes) {
  const curve = (name, k) => ({
    name,
    colour: intentColour(k),
    points: points.map((p) => [p.episode, p.means[name]]),
    half: points.map((p) => p.half_width[name] ?? 0),
  });
  const last = points.at(-1);
  const means = last && DEFENDERS.map((name) => `${name} ${payoff(last.means[name])}`).join(", ");
  chart({
    series: DEFENDERS.map(curve),
    x: [points[0]?.episode ?? 0, Math.max(episodes, points[0]?.episode + 1 || 1)],
    whole: true,
    xLabel: "plays",
    empty: "Start a comparison to see the curves",
    label: last && `After ${last.episode} plays the attacker gets: ${means}`,
  });
}

function fillTable() {
  const last = points.at(-1);
  by("compare-table").tBodies[0].replaceChildren(...DEFENDERS.map((name, k) => make(
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
  redraw(1);
  fillTable();
  const whole = state.contest?.matters && state.contest.solved;
  show(false, whole ? "Defenders are compared where states can be listed. `ncirl simulate` plays this one against attackers." : state.contest?.solved ? "Not started." : "Solve this contest first: the certified defender is one of the four.");
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
    show(false, `Done: ${points.at(-1)?.episode ?? 0} plays.`);
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
