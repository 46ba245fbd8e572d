// Draws the shown path of a conversation. Turns that did not change keep their
// elements, so that selection, focus and scroll position survive.

import { h, icon, announce } from "./dom.js";
import { turnView, showText, graft } from "./turnview.js";

export class Thread {
  constructor(scroller, root, page) {
    this.scroller = scroller;
    this.root = root;
    this.page = page;
    this.drawn = new Map(); // key -> {el, signature}
    this.open = new Set(); // keys with the details shown
    this.editing = "";
    this.explaining = "";
    this.frame = 0;
    this.follow = true; // whether to stay at the end while an answer grows
    this.top = 0; // where the scroller was when last looked at
    this.latest = document.getElementById("latest");
    this.latest.append(icon("latest"));
    this.latest.addEventListener("click", () => this.toEnd());
    scroller.addEventListener("scroll", () => this.look(), { passive: true });
    new ResizeObserver(() => this.stick()).observe(scroller);
  }

  /** Forgets what was drawn, for another conversation. */
  clear() {
    this.drawn.clear();
    this.page.cards.clear();
    this.editing = this.explaining = "";
    this.follow = this.latest.hidden = true;
    this.top = 0;
    this.root.replaceChildren();
  }

  draw(conversation) {
    const path = conversation.tree.path();
    this.root.setAttribute("aria-busy", String(!!conversation.run));
    if (!path.length) {
      this.drawn.clear();
      this.root.replaceChildren(this.page.welcome());
      return;
    }
    const keep = new Map();
    const elements = path.map((turn) => this.element(turn, conversation, keep));
    this.drawn = keep;
    place(this.root, elements);
    this.page.cards.drawn();
    this.page.cards.sync(path);
    this.stick();
  }

  element(turn, conversation, keep) {
    const state = { details: this.open.has(turn.key), editing: this.editing === turn.key, explaining: this.explaining === turn.key };
    const signature = JSON.stringify([turn, state, this.page.cards.blocks.get(turn.id), conversation.tree.siblings(turn).map((t) => t.key), !!conversation.run, this.page.specialists.all]);
    const old = this.drawn.get(turn.key);
    if (old && (old.signature === signature || (state.editing && old.editing))) {
      keep.set(turn.key, old);
      return old.el;
    }
    const focused = old?.el.contains(document.activeElement) ? document.activeElement.dataset.action : "";
    let el = turnView(turn, this.page, state);
    if (old?.el.querySelector("iframe")) {
      graft(old.el, el, turn, this.page);
      el = old.el;
    } else if (old) old.el.replaceWith(el);
    if (focused) el.querySelector(`[data-action="${focused}"]`)?.focus({ preventScroll: true });
    keep.set(turn.key, { el, signature, editing: state.editing });
    return el;
  }

  /** Shows a further piece of an answer, at most once a frame. */
  text(turn) {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      const drawn = this.drawn.get(turn.key);
      if (!drawn || !turn.running) return;
      drawn.signature = "";
      showText(drawn.el, turn, this.page);
      this.page.cards.drawn();
      this.page.cards.follow(turn, this.page.after(turn));
      this.stick();
    });
  }

  /** Sees whether the person is at the end; who has scrolled up is left in peace. */
  look() {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    this.follow = scrollHeight - scrollTop - clientHeight < 60;
    this.latest.hidden = this.follow;
    this.top = scrollTop;
  }

  /** Stays at the end, unless the person has just left it and the event is yet to come. */
  stick() {
    if (!this.follow || this.scroller.scrollTop < this.top - 1) return this.look();
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.top = this.scroller.scrollTop;
  }

  toEnd() {
    this.follow = true;
    this.top = 0;
    this.stick();
    this.latest.hidden = true;
  }

  edit(key) {
    this.editing = key;
  }

  focus(key, action) {
    const el = this.drawn.get(key)?.el.querySelector(`[data-action="${action}"]`);
    el?.focus();
    if (el?.setSelectionRange) el.setSelectionRange(el.value.length, el.value.length);
  }

  /** Reports whether the details are shown now. */
  toggleDetails(key) {
    return !this.open.delete(key) && !!this.open.add(key);
  }
}

/** Makes the children of root these, touching only those that are not in place. */
function place(root, elements) {
  for (const child of [...root.children]) if (!elements.includes(child)) child.remove();
  elements.forEach((el, i) => {
    if (root.children[i] !== el) root.insertBefore(el, root.children[i] || null);
  });
}

const starters = [
  "What can you do for me?",
  "Remind me to call Ana tomorrow at nine",
  "Write a shell command that finds the ten largest files",
  "Make a card to split a bill among friends",
];

/** What an empty conversation shows: who is there, and a few ways to begin. */
export function welcome(specialists, force, choose, begin) {
  const card = (a) => {
    const el = h(
      "button",
      { type: "button", class: "specialist", "aria-pressed": String(force === a.name), data: { name: a.name }, on: { click: () => choose(force === a.name ? "" : a.name) } },
      h("span", { class: "mac", "aria-hidden": "true" }, h("i"), h("i"), h("i")),
      h("span", {}, h("strong", {}, a.title || a.name), h("small", {}, a.description)),
    );
    return specialists.tint(el, a.name);
  };
  return h(
    "div",
    { class: "welcome" },
    h("h2", {}, "What is on your mind?"),
    h("p", { class: "muted" }, specialists.all.length ? "One of these specialists answers, whoever fits. Choose one to ask it yourself." : "Write a message to begin."),
    h("div", { class: "specialists" }, specialists.all.map(card)),
    h("div", { class: "starters" }, starters.map((text) => h("button", { type: "button", class: "plain", on: { click: () => begin(text) } }, text))),
  );
}

/** Tells those who listen to the page how an answer ended. */
export function announceEnd(turn, specialists) {
  if (turn.failure) announce(turn.failure.message);
  else if (turn.status === "interrupted") announce("Stopped");
  else announce(specialists.title(turn.adapter) + " has answered");
}
