// The server's calls. A refusal becomes an Error whose message is the server's own sentence.

async function refused(response) {
  let message = `The server answered ${response.status} ${response.statusText}.`;
  let field = null, offered = null;
  try {
    const { error } = await response.json();
    message = error.message ?? message;
    field = error.field ?? null;
    offered = error.offered ?? null;
  } catch {
    // not one of our answers: the status says all there is
  }
  return Object.assign(new Error(message), { status: response.status, field, offered });
}

async function call(path, options = {}) {
  let response;
  try {
    response = await fetch(`/api${path}`, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server cannot be reached; see whether `ncirl serve` still runs.");
  }
  if (!response.ok) throw await refused(response);
  return response;
}

const json = async (path, options) => (await call(path, options)).json();
const sent = (body) => ({ method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
const key = encodeURIComponent;

export const contests = async () => (await json("/contests")).contests;
export const contest = (id) => json(`/contests/${key(id)}`);

/** Bring files, one after the other in one body, with the start, the goals and the kinds of steps chosen for them. */
export function upload(files, { initial, goals, steps }) {
  const asked = new URLSearchParams(files.flatMap((file) => [["name", file.name], ["size", String(file.size)]]));
  for (const name of initial) asked.append("initial", name);
  for (const name of goals) asked.append("goal", name);
  for (const kind of steps) asked.append("step", kind);
  return json(`/contests?${asked}`, { method: "POST", body: new Blob(files), headers: { "content-type": "application/octet-stream" } });
}

export const solve = (id, settings) => json(`/contests/${key(id)}/solve`, sent(settings));
export const compare = (id, settings) => json(`/contests/${key(id)}/compare`, sent(settings));
export const find = (id, text, signal) => json(`/contests/${key(id)}/find`, { ...sent({ text }), signal });
export const resolve = (request) => json("/resolve", sent(request));
export const job = (id) => json(`/jobs/${key(id)}`);
export const cancel = (id) => call(`/jobs/${key(id)}`, { method: "DELETE" });
export const policyAddress = (id) => `/api/contests/${key(id)}/policy`;
export const play = (request, signal) => json("/play", { ...sent(request), signal });

/** Yield `{event, data}` of a stream of server-sent events until it ends. */
export async function* events(path, signal) {
  const response = await call(path, { signal, headers: { accept: "text/event-stream" } });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).replaceAll("\r\n", "\n").split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const fields = { event: "message", data: "" };
      for (const line of block.split("\n")) {
        const [, name, text] = /^(\w+): ?(.*)$/.exec(line) ?? [];
        if (name === "data") fields.data += text;
        else if (name) fields[name] = text;
      }
      if (fields.data) yield { event: fields.event, data: JSON.parse(fields.data) };
    }
  }
}

export const jobEvents = (id, signal) => events(`/jobs/${key(id)}/events`, signal);
