// What a frame measured of its card: a rule, a kind of element, and which of its kind it
// is. All of it is from closed sets, so that no text of a card comes this way.

const rules = {
  name: "has no name that a screen reader could say",
  alt: "has no text for those who do not see it",
  target: "is hard to hit: small, and close to another",
  overflow: "is wider than the card",
};
const kinds = ["tab", "switch", "button", "checkbox", "radio", "slider", "select", "field", "link", "disclosure", "picture", "table", "box"];
const most = 500;

/** The finding of a message, null for one that is none. */
export function findingOf({ rule, kind, n, of }) {
  const known = Object.hasOwn(rules, rule) && kinds.includes(kind);
  return known && Number.isInteger(n) && Number.isInteger(of) && n >= 1 && n <= of && of <= most ? { rule, kind, n, of } : null;
}

/** A finding for the person. */
export function sentenceOf({ rule, kind, n, of }) {
  return kind === "box" ? `Something ${rules[rule]}.` : `${kind[0].toUpperCase()}${kind.slice(1)} ${n} of ${of} ${rules[rule]}.`;
}
