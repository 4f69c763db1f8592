// Puts the views together: tabs, keys, files, theme, and what the address says.
import * as api from "./api.js";
import * as board from "./board.js";
import * as compare from "./compare.js";
import { by, hush, notify } from "./dom.js";
import * as holding from "./holding.js";
import * as importing from "./import.js";
import * as link from "./link.js";
import * as look from "./look.js";
import * as search from "./search.js";
import * as play from "./play.js";
import * as solve from "./solve.js";
import { attempt, on, openContest, showTab, state } from "./state.js";

const FIGURES = { look: "board", play: "board", solve: "figure-solve", compare: "figure-compare" };

function arrangeTab({ tab }) {
  for (const name of link.TABS) {
    const chosen = name === tab;
    const button = by(`tab-${name}`);
    button.setAttribute("aria-selected", String(chosen));
    button.tabIndex = chosen ? 0 : -1;
    by(`panel-${name}`).hidden = !chosen;
  }
  for (const figure of new Set(Object.values(FIGURES))) by(figure).hidden = figure !== FIGURES[tab];
}

function startTabs() {
  on("tab", arrangeTab);
  by("tabs").addEventListener("click", (event) => event.target.id.startsWith("tab-") && showTab(event.target.id.slice(4)));
  by("tabs").addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowLeft: -1, Home: -link.TABS.indexOf(state.tab), End: 3 - link.TABS.indexOf(state.tab) }[event.key];
    if (move === undefined) return;
    event.preventDefault();
    showTab(link.TABS.at((link.TABS.indexOf(state.tab) + move) % link.TABS.length));
    by(`tab-${state.tab}`).focus();
  });
  by("skip").addEventListener("click", (event) => {
    event.preventDefault();
    by("panels").focus();
  });
}

function startFiles() {
  by("open").addEventListener("click", () => by("file").click());
  by("file").addEventListener("change", () => {
    if (by("file").files.length) importing.open([...by("file").files]);
    by("file").value = "";
  });
  by("contest").addEventListener("change", () => attempt(async () => {
    try {
      await openContest(by("contest").value);
    } catch (error) {
      if (error.status === 404) await openContest(state.contest.id); // the choice shows again what there is
      throw error;
    }
  }));
  const dropping = (isOn) => { by("drop").hidden = !isOn; };
  addEventListener("dragover", (event) => {
    event.preventDefault();
    dropping(event.dataTransfer.types.includes("Files"));
  });
  addEventListener("dragleave", (event) => event.relatedTarget === null && dropping(false));
  addEventListener("drop", (event) => {
    event.preventDefault();
    dropping(false);
    if (event.dataTransfer.files.length) importing.open([...event.dataTransfer.files]);
  });
}

function changeTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
  board.recolour();
}

function startKeys() {
  const inPlay = (action) => () => state.tab === "play" && action();
  const keys = {
    l: () => showTab("look"), s: () => showTab("solve"), p: () => showTab("play"), c: () => showTab("compare"),
    o: () => by("open").click(), t: changeTheme, "?": () => by("help-dialog").showModal(),
    n: inPlay(play.step), u: inPlay(play.undo), a: inPlay(play.autoplay), r: inPlay(play.restart),
  };
  for (let k = 1; k <= 9; k += 1) keys[k] = inPlay(() => play.toggleNumber(k - 1));
  by("shortcuts").checked = localStorage.getItem("shortcuts") !== "off";
  by("shortcuts").addEventListener("change", () => localStorage.setItem("shortcuts", by("shortcuts").checked ? "on" : "off"));
  addEventListener("keydown", (event) => {
    const typing = event.target.matches('input[type="number"], input[type="search"], input[type="text"], select') || document.querySelector("dialog[open]");
    if (typing || event.ctrlKey || event.altKey || event.metaKey || !by("shortcuts").checked) return;
    keys[event.key.toLowerCase()]?.();
  });
  addEventListener("keydown", (event) => event.key === "Escape" && hush());
  by("help").addEventListener("click", keys["?"]);
  by("theme").addEventListener("click", changeTheme);
  by("notice").querySelector("button").addEventListener("click", hush);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", board.recolour);
}

/** Stand where the address says: at the start of the first example, if it says nothing. */
const restore = () => attempt(async () => {
  const wanted = link.read();
  state.tab = wanted.tab;
  state.job = wanted.job;
  arrangeTab(state);
  if (wanted.contest) {
    try {
      return await openContest(wanted.contest, wanted);
    } catch (error) {
      if (error.status !== 404) throw error;
      notify(`The link is about a contest that this server does not have, or not any more; open its file. ${error.message}`);
    }
  }
  const [first] = await api.contests();
  return openContest(first.id, wanted);
});

startTabs();
startFiles();
startKeys();
look.start();
importing.start();
solve.start();
play.start();
compare.start();
holding.start(board.repaint);
search.start(play.add, holding.toggle);
board.start(play.toggle);
addEventListener("hashchange", restore);
restore();
