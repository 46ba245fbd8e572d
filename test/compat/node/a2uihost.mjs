// A web page that draws messages of A2UI with the official renderer for Lit, and keeps what
// its controls send.
import "@a2ui/lit/v0_9";
import { basicCatalog } from "@a2ui/lit/v0_9";
import { MessageProcessor } from "@a2ui/web_core/v0_9";

const { messages } = await (await fetch("/host.json")).json();
const told = (window.told = { actions: [] });
const processor = new MessageProcessor([basicCatalog], (a) => void told.actions.push(a));
processor.processMessages(messages);
const surface = document.createElement("a2ui-surface");
surface.surface = processor.model.getSurface(messages[0].createSurface.surfaceId);
document.body.append(surface);

const all = (root) => [...root.querySelectorAll("*")].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])]);
/** The elements that are drawn, in shadow trees too. */
window.drawn = () => all(document.body);
window.words = () => drawn().flatMap((e) => [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data.trim())).filter(Boolean).join("|");
