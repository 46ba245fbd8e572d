// What the host says beneath a card: that it was stopped, what went wrong in it, what
// became of the last Action. All of it is text, and looks like the host, not like the card.

const most = 20;

export class Notices {
  constructor(place) {
    this.box = add(place, "div", "ui4a-notices");
  }

  clear() {
    this.box.replaceChildren();
    this.list = this.saw = undefined;
    this.count = 0;
  }

  /** Adds something that went wrong. */
  trouble(message) {
    this.count++;
    if (!this.list) {
      const box = add(this.box, "details", "ui4a-trouble");
      this.head = add(box, "summary", "");
      this.list = add(box, "ul", "");
    }
    this.head.textContent = this.count === 1 ? "1 problem in this card" : `${this.count} problems in this card`;
    if (this.count <= most) add(this.list, "li", "", message);
  }

  /** Says what became of an Action. */
  receipt(r) {
    this.saw?.remove();
    const sentence = r.outcome === "sent" ? "Sent. The model saw:" : r.message;
    this.saw = add(this.box, "p", `ui4a-receipt ${r.outcome === "refused" ? "ui4a-refused" : ""}`, sentence);
    this.saw.setAttribute("role", "status");
    if (r.saw) add(this.saw, "code", "", ` ${r.saw}`);
  }

  /** Stands in the place of a card that was stopped. */
  stopped(why, source, { again, repair }) {
    this.clear();
    const box = add(this.box, "div", "ui4a-stopped");
    box.setAttribute("role", "alert");
    add(box, "p", "", `This card was stopped. ${why}`);
    press(box, "Start it again", again);
    if (repair) press(box, "Ask for a repair", repair);
    const details = add(box, "details", "");
    add(details, "summary", "", "Its source");
    add(details, "pre", "", source);
  }
}

function add(place, tag, name, text = "") {
  const e = document.createElement(tag);
  if (name) e.className = name;
  if (text) e.textContent = text;
  place.append(e);
  return e;
}

function press(place, text, f) {
  const b = add(place, "button", "ui4a-press", text);
  b.type = "button";
  b.addEventListener("click", f);
}
