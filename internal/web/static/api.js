// Talks to the server. Every failure becomes a Failure: what happened, and what the
// person can do about it.

export class Failure extends Error {
  constructor(message, next = "", code = "") {
    super(message);
    this.next = next;
    this.code = code;
  }
}

// A server that asks for a key gets it as a header, which no other site can make a browser send. It is
// kept for this tab alone and is gone with it.
const place = "macaron-key";
export const keep = (key) => (key ? sessionStorage.setItem(place, key) : sessionStorage.removeItem(place));
const shown = () => {
  const key = sessionStorage.getItem(place);
  return key ? { Authorization: "Bearer " + key } : {};
};

const gone = () => new Failure("Macaron does not answer", "see whether it still runs in its terminal, start it again, then try again", "unreachable");

/** Reads the error object that every interface of the server uses. */
export function failureOf(body, status) {
  const e = body?.error;
  if (!e?.message) return new Failure(`The server answered with status ${status}`, "look at its terminal");
  const advice = ": " + e.next; // the message ends with it, for clients that show nothing else
  const message = e.next && e.message.endsWith(advice) ? e.message.slice(0, -advice.length) : e.message;
  return new Failure(message, e.next || "", e.code || "");
}

async function call(path, options = {}) {
  let answer;
  try {
    answer = await fetch(path, { ...options, headers: { ...options.headers, ...shown() } });
  } catch (cause) {
    if (cause.name === "AbortError") throw cause;
    throw gone();
  }
  if (!answer.ok) throw failureOf(await answer.json().catch(() => null), answer.status);
  return answer;
}

const get = async (path) => (await call(path)).json();

const post = (path, body, options = {}) =>
  call(path, { method: "POST", body: JSON.stringify(body), ...options, headers: { "Content-Type": "application/json", ...options.headers } });

export const sessions = (before = "") => get("/admin/sessions" + (before ? "?before=" + encodeURIComponent(before) : ""));
export const session = (id) => get("/admin/sessions/" + encodeURIComponent(id));
export const adapters = async () => (await get("/admin/adapters")).data;
export const feedback = async (turn, score, reason) => (await post("/v1/feedback", { turn, score, ...(reason && { reason }) })).json();

/** The cards of the conversation that ends with a turn, and those of an answer that is being written. */
export const cards = (turn) => get("/v1/cards/" + encodeURIComponent(turn));
export const cardFrames = async (draft) => (await post("/v1/cards", draft)).json();
export const cardAction = async (turn, body) => (await post(`/v1/cards/${encodeURIComponent(turn)}/actions`, body)).json();
export const cardEvent = async (turn, body, options) => (await post(`/v1/cards/${encodeURIComponent(turn)}/events`, body, options)).json();

/** A picture that a card shows, as a data: address. */
export async function picture(turn, name) {
  const blob = await (await call(`/v1/cards/${encodeURIComponent(turn)}/pictures/${encodeURIComponent(name)}`)).blob();
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.onerror = () => failed(reader.error);
    reader.readAsDataURL(blob);
  });
}
export const putPicture = (name, blob) => call("/v1/pictures/" + encodeURIComponent(name), { method: "PUT", body: blob, headers: { "Content-Type": blob.type } });

export const runs = (before = "") => get("/v1/runs?limit=50" + (before ? "&before=" + encodeURIComponent(before) : ""));
export const run = (id) => get("/v1/runs/" + encodeURIComponent(id));
export const decide = async (id, verb, body) => (await post(`/v1/runs/${encodeURIComponent(id)}/${verb}`, body)).json();

export const lineage = () => get("/v1/forge/lineage");
export const trainings = () => get("/v1/training/runs");
export const training = (id, at) => get(`/v1/training/runs/${encodeURIComponent(id)}?at=${at}`);

/** What is measured of a training run from a place on, as it comes. */
export async function* trainingEvents(id, at, signal) {
  const answer = await call(`/v1/training/runs/${encodeURIComponent(id)}/events?at=${at}`, { signal });
  for await (const data of events(answer.body)) yield JSON.parse(data);
}

/** The next records of a run after one; none at the end. */
export async function runRecords(id, after) {
  const text = await (await call(`/v1/runs/${encodeURIComponent(id)}/records?after=${after}`)).text();
  return text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
}

/** Tells whether a turn could be served now: {ready, reason, next}. */
export async function readiness() {
  try {
    const answer = await fetch("/readyz", { headers: shown() });
    if (answer.ok) return { ready: true };
    const missing = (await answer.json()).checks?.find((c) => !c.ready);
    return { ready: false, reason: missing?.error || "Macaron is starting", next: missing?.next || "" };
  } catch {
    const e = gone();
    return { ready: false, lost: true, reason: e.message, next: e.next };
  }
}

/**
 * Asks for an answer and streams it. onHead gets what the headers tell before the first
 * token, onText each piece. Returns the macaron object of the last chunk and the finish
 * reason. Aborting the signal stops the answer at the server too.
 */
export async function answer({ model, messages, session: id, request, signal, onHead, onText }) {
  const headers = { "X-Request-Id": request, ...(id && { "x-macaron-session": id }) };
  const response = await post("/v1/chat/completions", { model, messages, stream: true, stream_options: { include_usage: true } }, { headers, signal });
  onHead(headOf(response.headers));
  const done = { macaron: null, finish: "" };
  try {
    for await (const data of events(response.body)) {
      if (data === "[DONE]") return done;
      take(JSON.parse(data), done, onText);
    }
  } catch (cause) {
    if (cause.name === "AbortError" || cause instanceof Failure) throw cause;
    throw new Failure("The answer broke off", "try again", "broken");
  }
  throw new Failure("The answer broke off before its end", "try again", "broken");
}

function take(chunk, done, onText) {
  if (chunk.error) throw failureOf(chunk, 200);
  if (chunk.macaron) done.macaron = chunk.macaron;
  const choice = chunk.choices?.[0];
  if (choice?.finish_reason) done.finish = choice.finish_reason;
  if (choice?.delta?.content) onText(choice.delta.content);
}

function headOf(headers) {
  const of = (name) => headers.get("x-macaron-" + name) || "";
  const p = Number.parseFloat(of("probability"));
  return {
    turn: of("turn"), session: of("session"), adapter: of("adapter"), revision: of("revision"), reason: of("reason"),
    probability: Number.isFinite(p) ? p : null,
  };
}

/** Reads server-sent events and gives the data of each. */
export async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let data = [];
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop();
      for (const line of lines) {
        if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
        else if (line === "" && data.length) {
          yield data.join("\n");
          data = [];
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {}); // the stream may be over or aborted already
  }
}
