// What the page knows of the registered specialists: titles, order, colours.

// Hues of oklch: lavender, apricot, pistachio, raspberry, blueberry, mint, lemon, violet.
const hues = [300, 62, 145, 8, 255, 185, 95, 325];

export class Specialists {
  constructor() {
    this.all = [];
  }

  set(list) {
    this.all = list;
  }

  /** The title of a specialist; its label where there is none. */
  title(name) {
    return this.all.find((a) => a.name === name)?.title || name || "Macaron";
  }

  /** Gives an element the colour of a specialist; those no longer registered are lavender. */
  tint(el, name) {
    const at = this.all.findIndex((a) => a.name === name);
    el.style.setProperty("--hue", String(hues[Math.max(at, 0) % hues.length]));
    return el;
  }
}
