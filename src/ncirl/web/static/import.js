// Import: how files of other tools became an attack graph, and with which start, goals and steps to import them again.
import * as api from "./api.js";
import { by, hush, listed, make, notify } from "./dom.js";
import { attempt, on, openContest, showTab, state } from "./state.js";

const SIDES = { steps: "import-steps", initial: "import-start", goals: "import-goals" };
const OFFERED = { steps: "step_candidates", initial: "start_candidates", goals: "goal_candidates" };
const NOTHING = { steps: [], initial: [], goals: [] };
const LISTS = { source: "import-source", assumed: "import-assumed", left_out: "import-left-out" };
let brought = null; // the files opened last, what was chosen for them, and the contest that came of it

const part = (side, selector) => by(SIDES[side]).querySelectorAll(selector);

function showChoices(side, candidates) {
  by(SIDES[side]).querySelector("div").replaceChildren(...candidates.map(({ id, label, why, chosen }) => make(
    "label", {}, make("input", { type: "checkbox", value: id, defaultChecked: chosen }), label, make("small", {}, why),
  )));
  by(SIDES[side]).hidden = !candidates.length;
}

/** Offer what is wanting, and leave what was ticked and typed where the same is offered, or nothing anew. */
function offer(offered) {
  for (const [side, key] of Object.entries(OFFERED)) {
    const ids = offered[key].map((candidate) => candidate.id);
    if (ids.length && ids.join("\n") !== [...part(side, "input")].map((box) => box.value).join("\n")) showChoices(side, offered[key]);
  }
}

/** What is ticked and typed; where nothing was changed, what was asked for before, so that guesses stay guesses. */
function chosen(side) {
  const boxes = [...part(side, "input")];
  const typed = (part(side, "textarea")[0]?.value ?? "").split("\n").map((line) => line.trim()).filter(Boolean);
  const untouched = !typed.length && boxes.every((box) => box.checked === box.defaultChecked);
  if (untouched && (side !== "steps" || !boxes.length)) return brought[side];
  return [...boxes.filter((box) => box.checked).map((box) => box.value), ...typed];
}

/** Show what is said of an import, and if it was refused, given `offered`, what there is to choose from. */
function show(said, imported, offered = null) {
  by("import-said").textContent = said;
  by("import-report").hidden = !imported;
  for (const [key, id] of Object.entries(LISTS)) {
    by(id).replaceChildren(...(imported?.[key] ?? []).map((line) => make("li", {}, line)));
    by(id).previousElementSibling.hidden = !imported?.[key].length;
  }
  for (const side of Object.keys(SIDES)) {
    if (side === "steps" && imported) continue; // they were ticked before: they stay
    showChoices(side, (imported ?? offered)[OFFERED[side]]);
    if (side !== "steps") part(side, "textarea")[0].value = "";
    if (side !== "steps" && imported) by(SIDES[side]).hidden = false; // others can be typed
  }
  const again = Boolean(brought) && (!imported || brought.contest === state.contest.id);
  by("import-form").hidden = !again;
  by("import-elsewhere").hidden = again;
  by("import-again").classList.toggle("main", !imported);
  by("import-close").classList.toggle("main", Boolean(imported));
  by("import-close").textContent = imported ? "Look at it" : "Close";
  if (!by("import-dialog").open) by("import-dialog").showModal();
  by("import-dialog").scrollTop = 0;
}

function showReport() {
  const { imported } = state.contest;
  show(`${imported.format}: ${listed(imported.files)}. Attackers begin with ${imported.initial || "nothing"} and may want ${imported.goals} (${imported.intents_from}).`, imported);
}

/** Open files: one of ours, or those of another tool; where choices are wanting, ask for them. */
async function bring(files, choices) {
  let contest;
  try {
    contest = await api.upload(files, choices);
  } catch (error) {
    const offered = Object.values(error.offered ?? {}).some((candidates) => candidates.length) ? error.offered : null;
    if (!offered && !by("import-dialog").open) throw error;
    hush();
    if (by("import-dialog").open) {
      by("import-said").textContent = error.message;
      if (offered) offer(offered);
      by("import-dialog").scrollTop = 0;
    } else {
      brought = { files, contest: null, ...choices };
      show(error.message, null, offered);
    }
    return;
  }
  brought = { files, contest: contest.id, ...choices };
  await openContest(contest.id);
  hush();
  showTab("look");
  if (contest.imported) showReport();
}

export const open = (files) => attempt(() => {
  notify(`Opening ${listed(files.map((file) => file.name))}…`, true);
  showChoices("steps", []);
  return bring(files, NOTHING);
});

export function start() {
  on("contest", ({ contest }) => { by("how-imported").hidden = !contest.imported; });
  by("how-imported").addEventListener("click", showReport);
  by("import-close").addEventListener("click", () => by("import-dialog").close());
  by("import-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    by("import-again").disabled = true;
    await attempt(() => bring(brought.files, Object.fromEntries(Object.keys(SIDES).map((side) => [side, chosen(side)]))));
    by("import-again").disabled = false;
  });
}
