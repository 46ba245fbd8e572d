// The one way out: a MessagePort that the host hands over once, before any card is here.
// Messages are JSON texts. The card's code never holds the port.
import { native } from "../prelude/natives";

export type Message = { t: string; [field: string]: unknown };

const longest = 64 * 1024; // characters of one message
const burst = 50;
const perSecond = 20;

let port: MessagePort | undefined;
let waiting: string[] = []; // before the port is here
let left = burst;
let filled = native.now();

function spend(): boolean {
  const now = native.now();
  left = Math.min(burst, left + ((now - filled) / 1000) * perSecond);
  filled = now;
  if (left < 1) return false;
  left -= 1;
  return true;
}

/** Writes an object of text, numbers and JSON that is ready as JSON, key by key: nothing that a card has put on a prototype is asked. */
export function line(t: string, fields: [key: string, json: string][]): string {
  let out = '{"t":' + native.stringify(t);
  for (let i = 0; i < fields.length; i++) out += "," + native.stringify(fields[i][0]) + ":" + fields[i][1];
  return out + "}";
}

/** A text as JSON, cut to a number of characters. */
export function quoted(text: unknown, most: number): string {
  let s = "";
  try {
    s = `${text as string}`;
  } catch {
    s = "(not a text)"; // a card's object whose toString throws
  }
  return native.stringify(s.length > most ? s.slice(0, most) : s);
}

/** Sends one message; false when it is too long or too many came before it. */
export function send(message: string): boolean {
  if (message.length > longest || !spend()) return false;
  if (port) native.post(port, message);
  else waiting.push(message);
  return true;
}

/** Sends what keeps the frame alive: it does not count. */
export function sendFree(message: string) {
  if (port) native.post(port, message);
}

/** Waits for the port and calls handle with each of the host's messages from then on. */
export function connect(handle: (m: Message) => void) {
  const take = (e: Event) => {
    const m = e as MessageEvent;
    const ports = native.ports(m);
    if (native.source(m) !== native.parent || ports.length !== 1) return;
    native.unlisten(window, "message", take);
    port = ports[0];
    native.listen(port, "message", (e) => handle(native.parse(native.data(e as MessageEvent) as string)));
    native.startPort(port);
    for (const m of waiting) native.post(port, m);
    waiting = [];
  };
  native.listen(window, "message", take);
}
