// Bars of belief: one row an intent, a mark at its prior.
import { intentColour, make, share } from "./dom.js";

/** Fill every `[data-beliefs]` with rows for the contest's intents and return a function that sets them. */
export function beliefBars(contest) {
  const sets = [...document.querySelectorAll("[data-beliefs]")].map((place) => {
    const rows = contest.intents.map((intent, k) => {
      const bar = make("div", { className: "bar" }, make("b"), make("i", { title: `prior ${share(intent.prior)}` }));
      const number = make("span", { className: "number" });
      const name = make("span", { title: intent.id });
      bar.style.setProperty("--colour", intentColour(k));
      bar.style.setProperty("--prior", `${100 * intent.prior}%`);
      return { id: intent.id, bar, number, name, row: make("div", { className: "belief" }, name, bar, number) };
    });
    place.replaceChildren(...rows.map((entry) => entry.row));
    return rows;
  });
  return (belief, own) => {
    for (const { id, bar, number, name } of sets.flat()) {
      const p = belief[id] ?? 0;
      name.textContent = id === own ? `${id} (you)` : id;
      bar.style.setProperty("--share", `${100 * p}%`);
      number.textContent = share(p);
    }
  };
}
