// What reaches a model or a capability answers a gesture of the person: one gesture, one
// Action. The listeners are the first of the window, so no card sees an event before
// them, and an event that a card makes itself is not trusted.
import { native } from "./natives";

const gestures = ["pointerdown", "keydown", "click", "change", "submit", "drop"];

let tickets = 0;

for (const type of gestures) {
  native.listen(window, type, (e) => void (e.isTrusted && (tickets = 1)), { capture: true, passive: true });
}

/** Whether the person has just done something that no Action has answered yet; uses it up. */
export function gesture(): boolean {
  const good = tickets > 0 && (!native.active || native.isActive(native.active));
  if (good) tickets = 0;
  return good;
}
