// Asks the host for an Action and waits for its receipt.
import { gesture } from "../prelude/gesture";
import { native } from "../prelude/natives";
import { report } from "../problem";
import { flushSealed } from "../state/seal";
import { flush } from "../state/store";
import { line, quoted, send } from "./port";

export interface Receipt {
  outcome: "sent" | "kept" | "refused";
  reason?: string;
  message: string;
}

export interface Wish {
  kind: "message" | "action";
  text?: unknown;
  name?: unknown;
  reads?: unknown;
  execution?: unknown;
  capability?: unknown;
  audience?: unknown;
  noai?: unknown;
  destructive?: unknown;
}

const waiting = new Map<number, (r: Receipt) => void>();
let last = 0;

function no(reason: string, message: string): Promise<Receipt> {
  report({ code: reason, message, fix: "call sendMessage and sendAction in an event handler, once for each thing that the person does" });
  return Promise.resolve({ outcome: "refused", reason, message });
}

function list(values: unknown, most: number): string {
  let out = "";
  const all = Array.isArray(values) ? values : [];
  for (let i = 0; i < all.length && i < most; i++) out += (out && ",") + quoted(all[i], 256);
  return "[" + out + "]";
}

/** What was last touched, in the card's words: its role or element, and its name. */
function node(): string {
  const e = native.document.activeElement;
  if (!e || e === native.document.body) return "";
  return `${e.getAttribute("role") ?? e.localName}: ${(e.getAttribute("aria-label") ?? e.textContent ?? "").trim().slice(0, 60)}`;
}

export function ask(w: Wish): Promise<Receipt> {
  if (!gesture()) return no("no-gesture", "an Action answers something that the person has just done; this one came by itself and was not sent");
  // What the host has not been told of it could neither keep from a model nor read.
  if (!flushSealed() || !flush()) return no("rate", "too much has changed at once, and the host does not know all of it yet; the Action was not sent");
  const n = ++last;
  const message = line("action", [
    ["n", `${n}`],
    ["kind", native.stringify(w.kind)],
    ["text", quoted(w.text ?? "", 4000)],
    ["name", quoted(w.name ?? "", 64)],
    ["reads", list(w.reads, 64)],
    ["execution", quoted(w.execution ?? "event", 32)],
    ["capability", quoted(w.capability ?? "", 64)],
    ["audience", quoted(w.audience ?? "ai", 8)],
    ["noai", list(w.noai, 64)],
    ["destructive", w.destructive ? "true" : "false"],
    ["node", quoted(node(), 120)],
  ]);
  if (!send(message)) return no("rate", "too many Actions, or one that is too long; it was not sent");
  return new Promise((answer) => waiting.set(n, answer));
}

/** Gives the host's receipt to who waits for it. */
export function answered(n: number, receipt: Receipt) {
  const answer = waiting.get(n);
  waiting.delete(n);
  answer?.(receipt);
}
