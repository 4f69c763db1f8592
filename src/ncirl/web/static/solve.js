// Solve: two bounds that close in on each other, live.
import * as api from "./api.js";
import { lineChart } from "./charts.js";
import { atLeast, atMost, by } from "./dom.js";
import { holding } from "./holding.js";
import { attempt, on, openContest, rememberJob, showTab, state } from "./state.js";

const MOST_DOTS = 30;
let chart;
let points = [];
let watching = null;
let solved = null;

const WORDS = {
  queued: "Waiting for a free worker…",
  running: "Solving…",
  done: "Done.",
  cancelled: "Stopped; what it had is kept.",
  failed: "Failed.",
};

const running = (word) => word === "queued" || word === "running";

function redraw() {
  const side = (name, colour, at) => ({ name, colour, step: true, points: points.map((p) => [p.seconds, p[at]]) });
  const last = points.at(-1);
  chart({
    series: [side("at most", "var(--block)", "upper"), side("at least", "var(--attempt)", "lower")],
    x: [0, Math.max(last?.seconds ?? 1, 0.1)],
    fill: true,
    dots: points.length <= MOST_DOTS,
    xLabel: "seconds",
    empty: by("cancel").disabled ? "Start a solve to see the bounds meet" : "Waiting for the first bounds",
    label: last && `After ${last.seconds.toFixed(1)} seconds the value lies between ${atLeast(last.lower)} and ${atMost(last.upper)}`,
  });
}

function showNumbers({ lower = null, upper = null, seconds = null }) {
  const bounded = lower !== null && upper !== null;
  by("job-lower").textContent = atLeast(lower);
  by("job-upper").textContent = atMost(upper);
  by("job-gap").textContent = bounded ? atMost(upper - lower) : "–";
  by("job-seconds").textContent = seconds === null ? "–" : seconds.toFixed(1);
}

function told(job) {
  if (job.state === "cancelled" && !job.contest) return "Stopped before it had anything to keep.";
  return job.error ?? WORDS[job.state];
}

function showJob(job) {
  by("job").textContent = told(job);
  by("solve").disabled = running(job.state);
  by("cancel").disabled = !running(job.state);
  solved = running(job.state) ? null : (job.contest ?? null);
  by("keep").disabled = !solved;
  const download = by("download");
  download.setAttribute("aria-disabled", String(!solved));
  if (solved) download.href = api.policyAddress(solved);
  else download.removeAttribute("href");
}

function addPoint(point) {
  points.push(point);
  redraw();
  showNumbers(point);
}

async function watch(id) {
  watching?.abort();
  watching = new AbortController();
  const { signal } = watching;
  points = [];
  rememberJob(id);
  showNumbers({});
  showJob(await api.job(id));
  redraw();
  for await (const { event, data } of api.jobEvents(id, signal)) {
    if (event === "bounds") {
      by("job").textContent = WORDS.running;
      addPoint(data);
    } else if (event === "end") {
      if (data.latest) showNumbers(data.latest);
      showJob(data);
      return;
    }
  }
  showJob(await api.job(id));
}

/** Follow a job; what goes wrong is said here as well as over the page. */
async function follow(id) {
  try {
    await watch(id);
  } catch (error) {
    if (error.name === "AbortError") return;
    showJob({ state: "failed", error: error.message });
    rememberJob(null);
  }
}

async function begin(event) {
  event.preventDefault();
  by("solve").disabled = true;
  try {
    const settings = { gap: by("gap").valueAsNumber / 100, time_limit: by("time-limit").valueAsNumber, holding: holding() };
    const { job } = await api.solve(state.contest.id, settings);
    await follow(job);
  } catch (error) {
    showJob({ state: "failed", error: error.message });
  }
}

export function start() {
  chart = lineChart(by("bounds-chart"));
  redraw();
  by("solve-form").addEventListener("submit", begin);
  by("cancel").addEventListener("click", () => attempt(async () => {
    by("cancel").disabled = true;
    by("job").textContent = "Stopping…";
    await api.cancel(state.job);
  }));
  by("keep").addEventListener("click", () => attempt(async () => {
    await openContest(solved);
    showTab("look");
  }));
  let shown = null;
  on("contest", ({ contest, job }) => {
    if (shown !== null && contest.id !== shown && contest.id !== solved) reset();
    else if (shown === null && job) follow(job);
    if (contest.id !== shown && contest.sizes.guarded) [by("gap").value, by("time-limit").value] = [5, 60];
    shown = contest.id;
  });
}

function reset() {
  watching?.abort();
  points = [];
  redraw();
  showNumbers({});
  showJob({ state: "done" });
  by("job").textContent = "Not started.";
  rememberJob(null);
}
