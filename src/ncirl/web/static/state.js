// The one thing all views show: a contest and a play of it. Views listen; only the functions here change it.
import * as api from "./api.js";
import * as link from "./link.js";
import { by, hush, make, notify } from "./dom.js";
import { forget, own, remember } from "./own.js";

export const state = {
  tab: "look",
  contest: null,
  job: null,
  role: "attacker",
  intent: null,
  seed: link.freshSeed(),
  moves: [],
  play: null, // the server's answer to the moves, or null where the contest is not solved
};

const listeners = { tab: [], contest: [], play: [] };

export function on(what, listener) {
  listeners[what].push(listener);
}

function tell(what) {
  link.write(state);
  for (const listener of listeners[what]) listener(state);
}

/** Run what a person asked for; what goes wrong is said in one sentence. */
export async function attempt(action) {
  hush();
  try {
    return await action();
  } catch (error) {
    if (error.name !== "AbortError") notify(error.message);
    return undefined;
  }
}

export function showTab(tab) {
  state.tab = tab;
  tell("tab");
}

export function rememberJob(job) {
  state.job = job;
  link.write(state);
}

let asked = null;

/** Show the play that these moves make; a newer call overtakes an older one, a refused one changes nothing. */
export async function playTo(changes) {
  const wanted = { role: state.role, intent: state.intent, seed: state.seed, moves: state.moves, ...changes };
  asked?.abort();
  asked = new AbortController();
  const answer = state.contest.solved
    ? await api.play({ contest: state.contest.id, ...wanted }, asked.signal)
    : null;
  Object.assign(state, wanted, { play: answer });
  tell("play");
}

/** Ask for a contest; one that the server has not any more is forgotten here too. */
async function known(id) {
  try {
    return await api.contest(id);
  } catch (error) {
    if (error.status === 404) forget(id);
    throw error;
  }
}

let opened = 0; // contests so far: the one asked for last is the one shown

/** Make a contest the one that is shown, with a play of it: from the start, unless `play` says otherwise. */
export async function openContest(id, play = {}) {
  const turn = (opened += 1);
  const [contest, examples] = await Promise.all([known(id), api.contests()]);
  if (turn !== opened) return;
  state.contest = contest;
  remember(contest);
  const intents = contest.intents.map((intent) => intent.id);
  const wanted = intents.includes(play.intent) ? play.intent : null;
  const asked = play.role ?? state.role;
  const role = asked === "told" && !contest.matters ? "defender" : asked; // what happened is told of whole graphs only
  state.play = null;
  Object.assign(state, { moves: [], role, intent: wanted ?? (role === "attacker" ? intents[0] : null) });
  fillChoice(contest, examples);
  tell("contest");
  try {
    await playTo({ seed: play.seed ?? link.freshSeed(), moves: play.moves ?? [] });
  } catch (error) {
    if (!play.moves?.length || error.name === "AbortError") throw error;
    notify(`The moves in the link do not fit this contest, so the game begins anew. ${error.message}`);
    await playTo({ moves: [] });
  }
}

function fillChoice(contest, examples) {
  const option = (c) => make("option", { value: c.id, selected: c.id === contest.id }, c.solved ? c.title : `${c.title} (not solved)`);
  const group = (label, members) => make("optgroup", { label }, ...members.map(option));
  const mine = own();
  by("contest").replaceChildren(group("Examples", examples), ...(mine.length ? [group("Opened here", mine)] : []));
}
