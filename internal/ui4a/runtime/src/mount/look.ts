// What of a drawn card some people cannot use: controls without a name, pictures without
// text, targets that are too small (WCAG 2.2, 2.5.8), content wider than the card. It is
// told by rule, kind and place among its kind, all of closed sets: never by a text of the
// card. A card that holds private values is not looked at.
import { line, send } from "../bridge/port";
import { native } from "../prelude/natives";
import { flush, holdsPrivate } from "../state/store";
import { hasName } from "./name";

// The kinds, by what is one in HTML or ARIA; the first that fits.
const kinds: [kind: string, selector: string][] = [
  ["tab", "[role=tab]"],
  ["switch", "[role=switch]"],
  ["button", "button,[role=button],input[type=button],input[type=submit],input[type=reset],input[type=image]"],
  ["checkbox", "input[type=checkbox],[role=checkbox]"],
  ["radio", "input[type=radio],[role=radio]"],
  ["slider", "input[type=range],[role=slider]"],
  ["select", "select,[role=combobox],[role=listbox]"],
  ["field", "input:not([type=hidden]),textarea,[role=textbox],[role=searchbox],[role=spinbutton]"],
  ["link", "a[href],[role=link]"],
  ["disclosure", "summary"],
  ["picture", "img,[role=img]"],
  ["table", "table"],
];
const every = kinds.map(([, selector]) => selector).join(",");
const pressed = ["tab", "button", "select", "field", "link", "disclosure"]; // whose size is the card's doing
const smallest = 24; // CSS pixels of a target
const mostElements = 500;
const mostTold = 12;

interface Seen {
  e: Element;
  kind: string;
  box: DOMRect;
}

function kindOf(e: Element): string {
  return kinds.find(([, selector]) => e.matches(selector))?.[0] ?? "box";
}

function shown(card: Element): Seen[] {
  return [...card.querySelectorAll(every)]
    .slice(0, mostElements)
    .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest("[aria-hidden=true],[inert]"))
    .map((e) => ({ e, kind: kindOf(e), box: e.getBoundingClientRect() }))
    .filter(({ box }) => box.width > 1 && box.height > 1);
}

/** The distance between a point and a box. */
function away(x: number, y: number, b: DOMRect): number {
  return Math.hypot(Math.max(b.left - x, 0, x - b.right), Math.max(b.top - y, 0, y - b.bottom));
}

/** A target that is too small, unless it stands alone or in a line of text. */
function small(s: Seen, all: Seen[]): boolean {
  const { box, e } = s;
  if (!pressed.includes(s.kind) || e.matches(":disabled") || Math.min(box.width, box.height) >= smallest || getComputedStyle(e).display === "inline") return false;
  const x = box.left + box.width / 2;
  const y = box.top + box.height / 2;
  return all.some((o) => o !== s && !["picture", "table"].includes(o.kind) && !o.e.contains(e) && !e.contains(o.e) && away(x, y, o.box) < smallest / 2);
}

/** The first element that makes the document scroll sideways; what rolls in a box of its own does not. */
function tooWide(card: Element): Element | undefined {
  const page = document.documentElement;
  if (page.scrollWidth <= page.clientWidth + 1) return undefined;
  const rolls = (e: Element | null): boolean => !!e && e !== card && (getComputedStyle(e).overflowX !== "visible" || rolls(e.parentElement));
  const wide = [...card.querySelectorAll("*")].slice(0, mostElements).find((e) => e.getBoundingClientRect().right > page.clientWidth + 1 && !rolls(e.parentElement));
  return wide?.closest("table") ?? wide ?? card;
}

/** Looks at a card as it stands, and tells the host what it finds. */
export function look(card: Element, revision: string) {
  if (holdsPrivate()) return;
  flush(); // a private value that is under way goes first
  const all = shown(card);
  let told = 0;
  const tell = (rule: string, kind: string, place: number, of: number) => {
    if (told++ < mostTold) send(line("finding", [["revision", native.stringify(revision)], ["rule", native.stringify(rule)], ["kind", native.stringify(kind)], ["n", `${place}`], ["of", `${of}`]]));
  };
  for (const s of all) {
    const alike = all.filter((o) => o.kind === s.kind);
    const at = (rule: string) => tell(rule, s.kind, alike.indexOf(s) + 1, alike.length);
    if (s.kind === "picture") {
      if (!s.e.hasAttribute("alt") && !s.e.matches("[role=presentation],[role=none]") && !hasName(s.e)) at("alt");
    } else if (s.kind !== "table" && !hasName(s.e)) at("name");
    if (small(s, all)) at("target");
  }
  const wide = tooWide(card);
  if (!wide) return;
  const alike = all.filter((o) => o.kind === kindOf(wide));
  const n = alike.findIndex((o) => o.e === wide) + 1;
  tell("overflow", n ? kindOf(wide) : "box", n || 1, n ? alike.length : 1);
}
