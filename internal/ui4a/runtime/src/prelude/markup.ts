// Text becomes markup or a script's address only through these two policies. Where a
// browser enforces Trusted Types, a card's own innerHTML, srcdoc, document.write and
// script.src throw; elements come from createElement alone, which elements.ts watches.

type Policy = { createHTML(s: string): unknown; createScriptURL(s: string): unknown };
type Factory = { createPolicy(name: string, rules: object): Policy };

const factory = (window as unknown as { trustedTypes?: Factory }).trustedTypes;
const whole = { createHTML: (s: string) => s, createScriptURL: (s: string) => s };
const own = factory ? factory.createPolicy("ui4a", whole) : whole;

// React's style elements and cleared elements: text without a tag stays allowed.
const { indexOf } = String.prototype;
const { apply } = Reflect;
if (factory) factory.createPolicy("default", { createHTML: (s: string) => (apply(indexOf, s, ["<"]) < 0 ? s : null) });

/** Lets markup through that the runtime has made itself. */
export function trustMarkup(html: string): string {
  return own.createHTML(html) as string;
}

/** Lets the address of a card's script through. */
export function trustScript(url: string): string {
  return own.createScriptURL(url) as string;
}
