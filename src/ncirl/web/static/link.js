// What the address holds: the tab, the contest, the game in progress, the job that runs.
//   #play?contest=office&role=attacker&intent=fraud&seed=3&moves=[["exploit web app"],[]]
//   #play?contest=office&role=watch&seed=3&steps=4

export const TABS = ["look", "solve", "play", "compare"];
const ROLES = ["attacker", "defender", "watch", "told"];

/** A seed that nobody can foresee: a whole number of 53 bits. */
export function freshSeed() {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2));
  return (high % 2 ** 21) * 2 ** 32 + low;
}

function readMoves(text) {
  try {
    const moves = JSON.parse(text ?? "[]");
    return Array.isArray(moves) ? moves : [];
  } catch {
    return [];
  }
}

export function read() {
  const [tab, query = ""] = location.hash.slice(1).split(/\?(.*)/s);
  const fields = new URLSearchParams(query);
  const role = ROLES.includes(fields.get("role")) ? fields.get("role") : "attacker";
  const steps = Math.min(Math.max(Number.parseInt(fields.get("steps") ?? "0", 10) || 0, 0), 10000);
  const seed = Number.parseInt(fields.get("seed"), 10);
  return {
    tab: TABS.includes(tab) ? tab : "look",
    contest: fields.get("contest"),
    job: fields.get("job"),
    role,
    intent: fields.get("intent"),
    seed: Number.isSafeInteger(seed) && seed >= 0 ? seed : freshSeed(),
    moves: role === "watch" ? Array(steps).fill(null) : readMoves(fields.get("moves")),
  };
}

export function write(state) {
  const fields = new URLSearchParams();
  if (state.contest) fields.set("contest", state.contest.id);
  if (state.job) fields.set("job", state.job);
  fields.set("role", state.role);
  if (state.intent) fields.set("intent", state.intent);
  fields.set("seed", state.seed);
  if (state.role === "watch") fields.set("steps", state.moves.length);
  else fields.set("moves", JSON.stringify(state.moves));
  history.replaceState(null, "", `#${state.tab}?${fields}`);
}
