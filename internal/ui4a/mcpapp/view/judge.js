// What a model may see of an Action, where no server judges: private values must not leave
// the view, so they cannot be sent to one. It lets through a part of what internal/ui4a/action
// does, never more. docs/formats/ui4a-hosts.md has the difference.

const kept = { outcome: "kept", message: "This stays with you; the model saw nothing.", saw: "" };
const refuse = (reason, message) => ({ outcome: "refused", reason, message, saw: "" });

let pointed = false; // an Action has named a value of the card's as private: the code knows one

/** Gives the receipt. card: {source, keys}; secrets: {held, sealed}, values by key. */
export function judge(action, card, secrets) {
  pointed ||= action.visibility.noai.length > 0;
  if (action.execution === "local" || action.visibility.audience === "user") return kept;
  const holds = pointed || Object.keys(secrets.held).length > 0;
  const said = action.text ?? action.name;
  if (holds && !isLiteral(said, card.source)) return refuse("dynamic-text", "The card holds private values, and the text is not one that stands in its source; nothing was sent.");
  const state = holds ? {} : told(action, card);
  const loose = [said, ...texts(state)].filter((t) => !isLiteral(t, card.source));
  if (has(loose, Object.values(secrets.sealed))) return refuse("tainted", "A private value, or a piece of one, would have been sent; nothing was.");
  return { outcome: "sent", message: "The model saw exactly the text below.", saw: action.kind === "message" ? action.text : line(action, state) };
}

/** The values of keys that the source declares and that are not private. */
function told(action, card) {
  return Object.fromEntries(Object.entries(action.state).filter(([key]) => !card.keys[key].noai));
}

/** One line of JSON with sorted keys. */
function line(action, state) {
  const withheld = Object.keys(action.state).filter((key) => !Object.hasOwn(state, key)).sort();
  return JSON.stringify(sorted({ action: action.name, surface: action.origin.surface, state, ...(withheld.length && { withheld }) }));
}

function sorted(v) {
  if (Array.isArray(v)) return v.map(sorted);
  if (v === null || typeof v !== "object") return v;
  return Object.fromEntries(Object.keys(v).sort().map((key) => [key, sorted(v[key])]));
}

/** Whether a text is a whole string literal of the source, which the model wrote. */
function isLiteral(text, source) {
  return text !== "" && !/["'`\\\n]|\$\{/.test(text) && ['"', "'", "`"].some((q) => source.includes(q + text + q));
}

/** The texts, numbers and keys in a value. */
function texts(v) {
  if (v === null || typeof v === "boolean") return [];
  if (typeof v !== "object") return [String(v)];
  return Object.entries(v).flatMap(([key, value]) => (Array.isArray(v) ? texts(value) : [key, ...texts(value)]));
}

// Four letters or digits in a row are taken for a leak, five if they are digits only.
const skeleton = (text) => text.normalize("NFKD").toLowerCase().replace(/[^\p{L}\p{Nd}]/gu, "");

/** Whether texts, each or put together, have a piece of one of some values. */
function has(loose, values) {
  const hay = [...loose, loose.join("")].map(skeleton);
  return values.some((value) => {
    const whole = [...skeleton(String(value))];
    const size = Math.min(whole.length, /^\d*$/.test(whole.join("")) ? 5 : 4);
    if (size === 0) return value !== "" && loose.some((t) => t.includes(value));
    return whole.some((_, i) => i + size <= whole.length && hay.some((h) => h.includes(whole.slice(i, i + size).join(""))));
  });
}
