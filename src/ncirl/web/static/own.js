// What was opened here: only this browser knows, for the server tells nobody the ids of what visitors open.
const PLACE = "contests";
const MOST = 12;

const write = (entries) => localStorage.setItem(PLACE, JSON.stringify(entries.slice(0, MOST)));

/** List what was opened here, the latest first, as `{id, title, solved}`. */
export function own() {
  try {
    const found = JSON.parse(localStorage.getItem(PLACE) ?? "[]");
    return Array.isArray(found) ? found.filter((entry) => typeof entry?.id === "string") : [];
  } catch {
    return [];
  }
}

export function remember({ id, title, solved, example }) {
  if (!example) write([{ id, title, solved }, ...own().filter((entry) => entry.id !== id)]);
}

export function forget(id) {
  write(own().filter((entry) => entry.id !== id));
}
