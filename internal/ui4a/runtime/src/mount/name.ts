// Whether a reader of the screen has something to say of an element: an accessible name,
// after the rules of accname-1.2 as far as they decide between some name and none.

const spoken = (e: Element, attribute: string) => (e.getAttribute(attribute) ?? "").trim() !== "";
const fromContent = "button,a,summary,[role=button],[role=link],[role=tab],[role=switch],[role=checkbox],[role=radio],[role=option]";

/** Whether there is text in a node, or something that stands for text. */
function says(node: Node | null): boolean {
  if (!node) return false;
  if (node.nodeType === Node.TEXT_NODE) return (node.nodeValue ?? "").trim() !== "";
  if (!(node instanceof Element) || node.getAttribute("aria-hidden") === "true" || node.matches("input,select,textarea")) return false;
  if (spoken(node, "aria-label") || (node.localName === "img" && spoken(node, "alt"))) return true;
  return [...node.childNodes].some(says);
}

export function hasName(e: Element): boolean {
  const others = (e.getAttribute("aria-labelledby") ?? "").split(/\s+/).filter(Boolean);
  if (others.some((id) => says(document.getElementById(id)))) return true;
  if (["aria-label", "title", "placeholder"].some((a) => spoken(e, a))) return true;
  if (e.matches("img,input[type=image]")) return spoken(e, "alt");
  if (e.matches("input[type=submit],input[type=reset]")) return true; // the browser's own words
  if (e.matches("input[type=button]")) return spoken(e, "value");
  const labels = (e as HTMLInputElement).labels;
  return (labels && [...labels].some(says)) || (e.matches(fromContent) && says(e));
}
