// A card makes no element that loads a document, a script or a connection. The two
// functions are the only source of elements where Trusted Types hold; elsewhere, and for
// what nobody has thought of, an observer takes such elements out again and tells.
import { report } from "../problem";
import { native, pin } from "./natives";

const refused = new Set([
  "link", "iframe", "frame", "frameset", "object", "embed", "portal", "fencedframe", "controlledframe", "webview", "applet", "script", "meta", "base", "template-for",
]);
const has = Set.prototype.has;

// A name in the card's hands may be an object that says something else the second time.
const text = String;
const { lastIndexOf, slice, toLowerCase } = String.prototype;

function checked(name: unknown): string {
  const s = text(name);
  const colon = native.apply(lastIndexOf, s, [":"]) as number;
  const local = native.apply(toLowerCase, native.apply(slice, s, [colon + 1]), []);
  if (native.apply(has, refused, [local])) throw new Error(`a card cannot make <${local}>`);
  return s;
}

const { createElement, createElementNS } = Document.prototype;
pin(Document.prototype, "createElement", function (this: Document, name: unknown) {
  return native.apply(createElement, this, [checked(name)]);
});
pin(Document.prototype, "createElementNS", function (this: Document, ns: unknown, name: unknown) {
  return native.apply(createElementNS, this, [ns, checked(name)]);
});

const { createDocument } = DOMImplementation.prototype;
pin(DOMImplementation.prototype, "createDocument", function (this: DOMImplementation, ns: unknown, name: unknown) {
  return native.apply(createDocument, this, [ns, checked(name ?? ""), null]);
});

const selector = [...refused].join(",");

function takeOut(found: Element) {
  report({ code: "element", message: `a card cannot have <${native.tagName(found)}>; it was taken out`, fix: "leave it away" });
  native.removeNode(found);
}

new MutationObserver((records) => {
  for (const r of records) {
    for (const node of r.addedNodes) {
      if (!(node instanceof Element)) continue;
      if (node.matches(selector) && !own.has(node)) takeOut(node);
      else for (const inner of node.querySelectorAll(selector)) takeOut(inner);
    }
  }
}).observe(document, { childList: true, subtree: true });

const own = new WeakSet<Element>();

/** Makes the element of a card's script, which no card can make. */
export function scriptElement(): HTMLScriptElement {
  const s = native.createElement(native.document, "script") as HTMLScriptElement;
  own.add(s);
  return s;
}
