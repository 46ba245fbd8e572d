// The panel beside the thread, where canvases stand: cards that an answer has given a name
// and later ones go on with. A surface is opened when its canvas is shown first, and stays
// in its place until the conversation has it no more: a frame that is moved begins anew.

import { h, iconButton, copyText } from "./dom.js";

const wide = matchMedia("(min-width: 1101px)"); // else the panel lies over the thread; layout.css

/** The name of a canvas by its surface; "" for other surfaces. */
export const canvasName = (surface) => (surface.startsWith("canvas/") ? surface.slice("canvas/".length) : "");

export class CanvasPanel {
  /** host: {source(surface), shown(surface)}: the code of a canvas, and that its place is there. */
  constructor(host) {
    this.host = host;
    this.places = new Map(); // surface -> element, of those that were shown
    this.names = []; // surfaces of the conversation
    this.selected = "";
    this.taken = new Set(); // what opened the panel by itself: once for each change
    this.root = document.getElementById("canvas");
    this.tabs = h("div", { class: "tabs", role: "group", "aria-label": "Canvases" });
    this.close = this.close.bind(this);
    this.closer = iconButton("close", "Close the canvas", this.close);
    const copy = iconButton("copy", "Copy the canvas' code", () => copyText(copy, host.source(this.selected)));
    this.root.append(h("header", {}, this.tabs, copy, iconButton("save", "Save the canvas as a file", () => this.save()), this.closer));
  }

  /** Whether it lies over the thread. */
  over() {
    return !this.root.hidden && !wide.matches;
  }

  /** What the conversation has: places of others go. */
  keep(surfaces) {
    if (surfaces.join("\n") === this.names.join("\n")) return;
    this.names = surfaces;
    for (const [name, place] of this.places) {
      if (surfaces.includes(name)) continue;
      place.remove();
      this.places.delete(name);
    }
    if (!surfaces.includes(this.selected)) this.selected = "";
    if (!surfaces.length) this.close();
    else if (!this.root.hidden) this.open(this.selected || surfaces.at(-1));
  }

  /** Opens a canvas because of an answer: once for each, where there is room beside the thread. */
  offer(surface, why) {
    if (this.taken.has(why) || !wide.matches) return;
    this.taken.add(why);
    this.open(surface);
  }

  open(surface, focus = false) {
    if (!this.names.includes(surface)) return;
    this.selected = surface;
    if (!this.places.has(surface)) {
      const place = h("div", { class: "card", data: { surface } }, h("div", { class: "place" }), h("p", { class: "card-note muted", role: "status" }));
      this.places.set(surface, place);
      this.root.append(place);
    }
    for (const [name, place] of this.places) place.hidden = name !== surface;
    this.root.hidden = false;
    document.body.classList.add("canvas");
    this.draw();
    this.host.shown(surface);
    if (focus) this.closer.focus();
  }

  draw() {
    const tab = (s) => h("button", { type: "button", "aria-pressed": String(s === this.selected), title: canvasName(s), on: { click: () => this.open(s) } }, h("bdi", {}, canvasName(s)));
    this.tabs.replaceChildren(...this.names.map(tab));
  }

  close() {
    this.root.hidden = true;
    document.body.classList.remove("canvas");
  }

  clear() {
    this.keep([]);
    this.taken.clear();
  }

  /** A file that `macaron ui4a serve` shows on the surface of the same name. */
  save() {
    const href = URL.createObjectURL(new Blob([this.host.source(this.selected)], { type: "text/plain" }));
    h("a", { href, download: canvasName(this.selected) + ".ui4a.tsx" }).click();
    URL.revokeObjectURL(href);
  }

  /** What stands in an answer where it opened or changed a canvas. */
  note(surface, changes) {
    const go = () => this.open(surface, true);
    return h("p", { class: "muted canvas-note" }, changes ? "Changed the canvas " : "Opened the canvas ", h("bdi", {}, canvasName(surface)), ". ", h("button", { type: "button", class: "plain", on: { click: go } }, "Show it"));
  }
}
