// A surface: the place of a card on a page of the host. It makes the frame, hands over
// the port, and is the only one that listens to it. The chat page, the gallery,
// `macaron ui4a serve` and the bench use it alike; docs/formats/ui4a-boundary.md.

import { confirm } from "./confirm.js";
import { Bucket } from "./limits.js";
import { actionId, buildAction } from "./action.js";
import { findingOf, sentenceOf } from "./finding.js";
import { Notices } from "./notices.js";
import { Watchdog } from "./watchdog.js";

const longest = 64 * 1024; // characters of one message
const tallest = 8192; // CSS pixels
const step = 64; // the grain of heights once private values are held
const mostFound = 12; // findings of one revision
const strikes = 200; // messages over the limit until the card is stopped

/**
 * Puts a surface into an element.
 * options: surface (its name); frame (address of the document), or document (its text, where
 * no server is); title (for readers of the
 * screen); theme ({scheme: "light" | "dark", accent: "#…", …}); state (what was kept);
 * sequence (the last one used); capabilities (names that the host offers);
 * onAction(action, secrets) gives a promise of the receipt; onState(key, value, secrets);
 * onTrouble({kind, revision, message, model}): message for the person, model the text
 * that a model may read; onFinding({revision, rule, kind, n, of}): what was measured of the
 * card as it stands here; onPainted(revision); onStop(reason); onRepair(card, reason).
 */
export function openSurface(place, options) {
  return new Surface(place, options);
}

class Surface {
  constructor(place, options) {
    this.options = { frame: "/ui4a/frame", title: "Card", theme: {}, state: {}, capabilities: [], ...options };
    this.state = new Map(Object.entries(this.options.state));
    this.secrets = { held: new Map(), sealed: new Map() }; // values that no model may see, by key
    this.sequence = this.options.sequence ?? 0;
    this.card = null;
    this.element = document.createElement("section");
    this.element.className = "ui4a-surface";
    place.append(this.element);
    this.notices = new Notices(this.element);
    this.start();
  }

  /** Makes a new frame; the card that was shown is shown again. */
  start() {
    this.end();
    this.notices.clear();
    this.all = new Bucket(20, 50);
    this.actions = new Bucket(2, 4);
    this.dropped = 0;
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts");
    frame.setAttribute("referrerpolicy", "no-referrer");
    frame.setAttribute("allow", "");
    frame.title = this.options.title;
    if (this.options.document) frame.srcdoc = this.options.document;
    else frame.src = this.options.frame;
    frame.className = "ui4a-frame";
    let loads = 0;
    frame.addEventListener("load", () => {
      if (++loads === 1) this.connect();
      else this.stop("left", "It tried to leave its place.");
    });
    this.frame = frame;
    this.element.prepend(frame);
  }

  connect() {
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    port1.onmessage = (e) => this.take(e.data);
    this.frame.contentWindow.postMessage("port", "*", [port2]);
    if (this.pictures) this.post({ t: "pictures", pictures: this.pictures });
    this.post({ t: "init", theme: this.options.theme, state: Object.fromEntries(this.state), private: Object.fromEntries(this.secrets.held) });
    if (this.card) this.post({ t: "card", script: this.card.script });
    this.watchdog = new Watchdog((n) => this.post({ t: "ping", n }), () => this.stop("unresponsive", "It did not answer for three seconds."));
  }

  post(message) {
    this.port?.postMessage(JSON.stringify(message));
  }

  /** Shows a compiled card: {revision, script, source, keys: {name: {noai}}}. */
  show(card) {
    if (card.revision !== this.card?.revision) this.found = 0;
    this.card = card;
    if (!this.frame) this.start();
    else this.post({ t: "card", script: card.script });
  }

  /** Hands over pictures: by name, as data: addresses. */
  setPictures(pictures) {
    this.pictures = pictures;
    this.post({ t: "pictures", pictures });
  }

  /** Takes state that was changed elsewhere, in another tab or on another page, and the last sequence used there. */
  renew(values, sequence) {
    this.sequence = Math.max(this.sequence, sequence);
    const changed = Object.entries(values).filter(([key, value]) => JSON.stringify(this.state.get(key)) !== JSON.stringify(value));
    for (const [key, value] of changed) this.state.set(key, value);
    if (changed.length) this.post({ t: "state", state: Object.fromEntries(changed) });
  }

  setTheme(theme) {
    this.options.theme = theme;
    this.post({ t: "theme", theme });
  }

  /** Whether the card's code holds, or has held, a value that no model may see. */
  get tainted() {
    return this.secrets.held.size > 0;
  }

  /** One message from the frame. Whatever is wrong with it, it is dropped. */
  take(data) {
    if (typeof data !== "string" || data.length > longest) return this.drop();
    // What is private is known even where the frame and this bucket count time differently.
    const free = ['{"t":"pong"', '{"t":"private"', '{"t":"sealed"'].some((start) => data.startsWith(start));
    if (!free && !this.all.spend()) return this.drop();
    let m;
    try {
      m = JSON.parse(data);
    } catch {
      return this.drop();
    }
    const handle = Object.hasOwn(handlers, m?.t) && handlers[m.t];
    if (!handle) return this.drop();
    handle(this, m);
  }

  drop() {
    if (++this.dropped === strikes) this.stop("flood", "It sent far more messages than it may.");
  }

  /** Takes the frame away and says so. */
  stop(reason, why) {
    if (!this.frame) return;
    this.end();
    this.notices.stopped(why, this.card?.source ?? "", {
      again: () => this.start(),
      repair: this.options.onRepair && (() => this.options.onRepair(this.card, reason)),
    });
    this.options.onStop?.(reason);
  }

  end() {
    this.watchdog?.end();
    this.port?.close();
    this.frame?.remove();
    this.watchdog = this.port = this.frame = undefined;
  }

  /** Takes the surface off the page; private values are forgotten. */
  close() {
    this.end();
    this.element.remove();
    this.secrets = { held: new Map(), sealed: new Map() };
  }

  trouble(kind, message, model) {
    this.notices.trouble(message);
    const text = this.tainted ? "the card failed while it held private values; what it said is not shown" : model;
    this.options.onTrouble?.({ kind, revision: this.card?.revision ?? "", message, model: text });
  }

  /** What was measured of the drawn card; once it holds private values, nothing is told. */
  finding(m) {
    const f = findingOf(m);
    if (!f) return this.drop();
    if (this.tainted || text(m.revision, 128) !== this.card?.revision || ++this.found > mostFound) return;
    this.notices.trouble(sentenceOf(f));
    this.options.onFinding?.({ revision: this.card.revision, ...f });
  }

  /** The private values for who has to look for them: never to be kept, shown or logged. */
  secretValues() {
    return { held: Object.fromEntries(this.secrets.held), sealed: Object.fromEntries(this.secrets.sealed) };
  }

  async action(m) {
    const refuse = (reason, message) => this.answer(m.n, { outcome: "refused", reason, message, saw: "" });
    if (!this.card || !this.actions.spend()) return refuse("rate", "Too many Actions in a short time; nothing was sent.");
    // A gesture in the frame counts for this page too; one elsewhere on the page does not.
    const active = navigator.userActivation?.isActive ?? true;
    if (!active || document.activeElement !== this.frame) return refuse("no-gesture", "The card acted by itself; nothing was sent.");
    const action = buildAction(m, this.card, this);
    if (typeof action === "string") return refuse("invalid", action);
    if ((m.destructive || action.execution === "host-capability") && !(await confirm(this.element, action, this.card))) {
      return refuse("declined", "You did not confirm; nothing was sent.");
    }
    try {
      this.answer(m.n, await this.options.onAction(action, this.secretValues()));
    } catch {
      refuse("failed", "It could not be sent.");
    }
  }

  answer(n, receipt) {
    this.notices.receipt(receipt);
    const { outcome, reason, message } = receipt; // what the model saw is not the card's business
    this.post({ t: "receipt", n, receipt: { outcome, reason, message } });
  }

  height(px) {
    const grain = this.tainted ? step : 1;
    const height = Math.min(Math.max(Math.ceil(px / grain) * grain, 1), tallest);
    this.frame.style.height = `${height}px`;
  }

  keep(kind, m) {
    const declared = this.card?.keys?.[m.key];
    if (typeof m.key !== "string" || !declared || !!declared.noai !== (kind !== "state")) return this.drop();
    if (kind === "state") {
      this.state.set(m.key, m.value);
      this.options.onState?.(m.key, m.value, this.secretValues());
    } else if (m.value !== "" && m.value !== null && m.value !== false) {
      this.secrets[kind].set(m.key, m.value);
    } else if (this.secrets[kind].has(m.key)) {
      this.secrets[kind].set(m.key, m.value); // emptied: the surface has held one for good
    }
  }
}

const text = (v, most = 1000) => (typeof v === "string" ? v.slice(0, most) : "");

/** What a frame may say, by the message's kind. */
const handlers = {
  pong: (s, m) => s.watchdog?.answered(m.n),
  height: (s, m) => Number.isFinite(m.px) && s.frame && s.height(m.px),
  painted: (s, m) => s.options.onPainted?.(text(m.revision, 128)),
  blank: (s) => s.trouble("blank", "The card shows nothing.", "the card mounts and shows nothing"),
  error: (s, m) => s.trouble("error", `The card failed: ${text(m.message)}`, `${text(m.where, 16)}: ${text(m.message)}`),
  problem: (s, m) => s.trouble("problem", text(m.message, 300), `${text(m.message, 300)}; ${text(m.fix, 300)}`),
  // To the model goes which rule was broken, not the address: that is the card's own text.
  violation: (s, m) => s.trouble("violation", `The card tried to reach ${text(m.blocked, 200)}; that was stopped.`, `the policy of cards stopped something: ${text(m.directive, 64)}`),
  finding: (s, m) => s.finding(m),
  state: (s, m) => s.keep("state", m),
  private: (s, m) => s.keep("held", m),
  sealed: (s, m) => s.keep("sealed", m),
  action: (s, m) => s.action(m),
};

export { actionId };
