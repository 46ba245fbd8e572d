// What a person says of a run that has ended: that it was good, that it was bad, or nothing any more.

import { announce, h, icon } from "./dom.js";

const words = { 1: "You said that it was good.", 0: "You said nothing yet.", "-1": "You said that it was bad." };

/**
 * The control. keep(score) keeps what was said, and fails where it was not kept: fail is told why, and
 * what was said before stands.
 */
export function verdictView(keep, fail) {
  let score = 0;
  let busy = false;
  const button = (name, label, to, ...drawn) => h("button", { type: "button", class: "plain", data: { action: name }, on: { click: () => say(to) } }, drawn, label);
  const good = button("good", "Good", 1, icon("up"));
  const bad = button("bad", "Bad", -1, icon("down"));
  const back = button("take-back", "Take it back", 0);
  const stands = h("span", { class: "muted" });
  const el = h("section", { id: "verdict", "aria-label": "Your judgement", hidden: true }, h("h2", {}, "Was this run good?"), h("div", { class: "buttons", role: "group", "aria-label": "Was this run good?" }, good, bad, back), stands);

  const draw = () => {
    good.setAttribute("aria-pressed", String(score === 1));
    bad.setAttribute("aria-pressed", String(score === -1));
    back.hidden = score === 0;
    stands.textContent = words[score];
  };

  async function say(to) {
    if (busy || to === score) return; // said once is enough: each is a record
    busy = true;
    try {
      await keep(to);
      const from = document.activeElement === back ? (score === 1 ? good : bad) : null;
      score = to;
      draw();
      from?.focus(); // what had the focus is gone
      announce(to ? words[to] : "You took it back.");
    } catch (cause) {
      fail(cause);
    }
    busy = false;
  }

  return {
    el,
    /** Shows what is on record of a run: nothing of one that has not ended. */
    show(run) {
      el.hidden = run.status === "running" || run.resumable;
      if (!busy) score = run.feedback || 0;
      draw();
    },
  };
}
