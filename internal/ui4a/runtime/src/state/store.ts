// The state of a surface. The host keeps it: what is set here is told to the host, and
// what an Action reads is read there.
import { line, send } from "../bridge/port";
import { native } from "../prelude/natives";

const form = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
const most = 64; // keys of a surface
const longest = 32 * 1024; // characters of a value as JSON

type Kind = "state" | "private";

interface Entry {
  kind: Kind;
  value: unknown;
  json: string;
}

const entries = new Map<string, Entry>();
const listeners = new Set<() => void>();
const changed: Record<Kind, Map<string, string>> = { state: new Map(), private: new Map() };
let timer = 0;
let holds = false;

/** Whether there is or was a private value other than an empty one. */
export function holdsPrivate(): boolean {
  return holds;
}

/** Takes the state that the host has kept. */
export function restore(kind: Kind, values: Record<string, unknown>) {
  for (const key of Object.keys(values)) entries.set(key, { kind, value: values[key], json: native.stringify(values[key]) });
  tell();
}

/** Takes state that was changed elsewhere, but for what has changed here and is yet to be told. */
export function renew(values: Record<string, unknown>) {
  const news: Record<string, unknown> = {};
  for (const key of Object.keys(values)) if (!changed.state.has(key) && entries.get(key)?.kind !== "private") news[key] = values[key];
  restore("state", news);
}

function tell() {
  for (const l of listeners) l();
}

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The value of a key; initial, which is told to the host, if it has none. */
export function read(kind: Kind, key: string, initial: unknown): unknown {
  const e = entries.get(key);
  if (!e) return write(kind, key, typeof initial === "function" ? (initial as () => unknown)() : initial);
  if (e.kind !== kind) throw new Error(`the key "${key}" is used both as persisted and as private state; use two keys`);
  return e.value;
}

/** Sets a key: to a JSON value, of at most 32 KB. */
export function write(kind: Kind, key: string, value: unknown): unknown {
  if (typeof key !== "string" || !form.test(key)) throw new Error(`"${String(key).slice(0, 64)}" is no key of state: begin with a letter, then letters, digits, _ . -`);
  const json = native.stringify(value);
  if (json === undefined) throw new Error(`the value of "${key}" is no JSON: use texts, numbers, booleans, arrays, objects, null`);
  if (json.length > longest) throw new Error(`the value of "${key}" is too large: at most ${longest} characters of JSON`);
  if (!entries.has(key) && entries.size >= most) throw new Error(`a card has at most ${most} keys of state`);
  if (entries.get(key)?.json !== json) {
    entries.set(key, { kind, value, json });
    changed[kind].set(key, json);
    if (kind === "private" && !["null", '""', "false"].includes(json)) holds = true;
    if (!timer) timer = native.setTimeout(flush, 100);
  }
  return value;
}

/** Sets a key and draws again what reads it. */
export function set(kind: Kind, key: string, value: unknown) {
  write(kind, key, value);
  tell();
}

/** Tells the host what has changed, before an Action reads it; false where something is yet to be told. */
export function flush(): boolean {
  timer = 0;
  for (const kind of ["private", "state"] as const) {
    for (const [key, json] of changed[kind]) {
      if (send(line(kind, [["key", native.stringify(key)], ["value", json]]))) changed[kind].delete(key);
    }
    if (changed[kind].size && !timer) timer = native.setTimeout(flush, 200); // too many at once: later
  }
  return changed.private.size + changed.state.size === 0;
}
