// A click on a link navigates the frame, which the host's page forbids: the card would be
// gone. The click does nothing instead, and the card is told. Places within it still work.
import { report } from "../problem";
import { native } from "./natives";

const path = Event.prototype.composedPath;
const prevent = Event.prototype.preventDefault;

for (const type of ["click", "auxclick"]) {
  native.listen(window, type, (e) => {
    for (const node of native.apply(path, e, []) as EventTarget[]) {
      const link = node as Element;
      const name = link instanceof Element ? native.tagName(link) : "";
      const to = name === "a" || name === "area" ? (link.getAttribute("href") ?? link.getAttribute("xlink:href")) : null;
      if (to === null || to.startsWith("#")) continue;
      native.apply(prevent, e, []);
      report({ code: "link", message: "a link of a card leads nowhere", fix: "show the address as text, or send a message that asks for it" });
      return;
    }
  }, { capture: true });
}
