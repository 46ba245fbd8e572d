// Inputs whose value stays between the person and the host: they lie in a closed shadow
// tree, their events end at the window before any listener of the card, their value goes
// into the port alone. Everything here goes through natives: a card that replaces a
// function or a setter of a prototype would else be handed the tree from within, or the
// events (docs/formats/ui4a-boundary.md).
import { line, quoted, send } from "../bridge/port";
import { native } from "../prelude/natives";

const hosts = new WeakMap<EventTarget, () => void>();
const quiet = [
  "keydown", "keyup", "keypress", "beforeinput", "input", "change", "textInput", "compositionstart", "compositionupdate", "compositionend",
  "paste", "copy", "cut", "drag", "dragstart", "dragend", "dragenter", "dragover", "dragleave", "drop", "select", "selectionchange", "selectstart",
];

// A change of the selection is told to the document, and later: whose it is follows from
// where the focus is, or was a moment ago.
const moment = 1000;
let left = -moment;
let inside = false;
for (const type of ["focusin", "focusout"]) {
  native.listen(window, type, (e) => {
    const of = native.target(e);
    if (!e.isTrusted || !of || !native.known(hosts, of)) return;
    inside = type === "focusin";
    left = native.now();
  }, { capture: true });
}

for (const type of quiet) {
  native.listen(window, type, (e) => {
    if (type === "selectionchange") {
      if (inside || native.now() - left < moment) native.stop(e);
      return;
    }
    const of = native.target(e);
    const changed = of && native.known(hosts, of);
    if (!changed) return;
    native.stop(e);
    if (type === "input" || type === "change") changed();
  }, { capture: true });
}

// Fonts, sizes and colours that a card cannot change: what is typed has no effect that it could measure.
const sheet = `
  :host { all: initial; display: block; }
  input { appearance: none; margin: 0; letter-spacing: normal; word-spacing: normal; text-transform: none; text-indent: 0; box-sizing: border-box; display: block; width: 100%; height: 40px; padding: 0 12px; font: 16px/1.4 sans-serif; overflow: hidden;
    color: var(--fg); background: var(--surface); border: 1px solid var(--muted); border-radius: 8px; cursor: text; }
  input:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }`;

interface Wanted {
  name: string;
  label: string;
  type?: string;
  placeholder?: string;
}

/** Puts a sealed input into place; gives what takes it out again. */
export function sealedInput(place: HTMLElement, wanted: Wanted, onFilled: (filled: boolean) => void): () => void {
  const host = native.createElement(native.document, "div");
  const root = native.attachShadow(host, { mode: "closed" });
  const style = native.createElement(native.document, "style");
  native.setText(style, sheet);
  const input = native.createElement(native.document, "input") as HTMLInputElement;
  const kinds = ["text", "password", "number", "email", "tel"];
  const set = (name: string, value: string) => native.setAttribute(input, name, value);
  set("type", kinds.includes(wanted.type ?? "") ? wanted.type! : "text");
  set("aria-label", `${wanted.label}`);
  set("placeholder", `${wanted.placeholder ?? ""}`);
  set("autocomplete", "off");
  set("maxlength", "2000");
  native.append(root, style);
  native.append(root, input);
  native.know(hosts, host, watch(input, `${wanted.name}`, onFilled));
  native.append(place, host);
  return () => {
    inside = false; // what is taken out may say nothing of it
    native.forget(hosts, host);
    native.removeNode(host);
  };
}

/** Gives what is done when the input has changed: a little later, its value is told. */
function watch(input: HTMLInputElement, name: string, onFilled: (filled: boolean) => void): () => void {
  let full = false;
  let timer = 0;
  const tell = (): boolean => {
    timer = 0;
    const told = send(line("sealed", [["key", quoted(name, 64)], ["value", quoted(native.inputValue(input), 2000)]]));
    if (!told) later();
    return told;
  };
  const later = () => void (timer ||= native.setTimeout(tell, 150));
  pending.add(() => !timer || tell());
  return () => {
    later();
    const now = native.inputValue(input) !== "";
    if (now !== full) onFilled((full = now));
  };
}

const pending = new Set<() => boolean>();

/** Tells the host of what has been typed last, before an Action reads it; false where some is yet to be told. */
export function flushSealed(): boolean {
  let all = true;
  for (const tell of pending) if (!tell()) all = false;
  return all;
}
