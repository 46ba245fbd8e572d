// The message box: text, specialist, send and stop.

import { h, icon } from "./dom.js";
import { fitting, nameOf } from "./picture.js";

export class Composer {
  /** onPicture(name, blob) keeps a picture; what it promises is that it is kept. */
  constructor({ onSend, onStop, onForce, onPicture }) {
    this.prompt = document.getElementById("prompt");
    this.force = document.getElementById("force");
    this.sendButton = document.getElementById("send");
    this.stopButton = document.getElementById("stop");
    this.running = false;
    this.ready = true;
    const file = document.getElementById("file");
    document.getElementById("attach").append(icon("picture"));
    document.getElementById("attach").addEventListener("click", () => file.click());
    file.addEventListener("change", () => this.attach([...file.files], onPicture).finally(() => (file.value = "")));
    this.sendButton.append(icon("send"));
    this.stopButton.append(icon("stop"));
    const send = () => {
      const text = this.prompt.value;
      if (!text.trim() || this.running || !this.ready) return;
      this.set("");
      onSend(text);
    };
    this.sendButton.addEventListener("click", send);
    this.stopButton.addEventListener("click", onStop);
    this.force.addEventListener("change", () => onForce(this.force.value));
    this.prompt.addEventListener("input", () => this.fit());
    this.prompt.addEventListener("keydown", (e) => {
      if (e.key !== "Enter" || e.shiftKey || e.isComposing) return; // Enter also ends the composing of a Chinese or Japanese word
      e.preventDefault();
      send();
    });
  }

  /** Keeps pictures, and says in the message how a card shows them. */
  async attach(files, onPicture) {
    for (const f of files) {
      const blob = await fitting(f);
      const name = nameOf(f.name, blob?.type);
      if (!(await onPicture(name, blob))) return;
      this.set(`${this.prompt.value.trimEnd()}\n\nA picture, ${name}. A card shows it as <img src="asset:${name}">.`.trimStart());
      this.focus();
    }
  }

  set(text) {
    this.prompt.value = text;
    this.fit();
  }

  focus() {
    this.prompt.focus({ preventScroll: true });
  }

  /** Makes the box as high as its text, up to a third of the window. */
  fit() {
    this.prompt.style.height = "auto";
    this.prompt.style.height = Math.min(this.prompt.scrollHeight, innerHeight / 3) + "px";
    this.sendButton.disabled = !this.prompt.value.trim() || !this.ready;
  }

  state(running, ready) {
    const hadFocus = document.activeElement === this.stopButton || document.activeElement === this.sendButton;
    this.running = running;
    this.ready = ready;
    this.sendButton.hidden = running;
    this.stopButton.hidden = !running;
    if (hadFocus) this.focus();
    this.fit();
  }

  specialists(all) {
    const chosen = this.force.value;
    this.force.replaceChildren(h("option", { value: "" }, "Auto"), ...all.map((a) => h("option", { value: a.name }, a.title ? `${a.title} (${a.name})` : a.name)));
    this.force.value = all.some((a) => a.name === chosen) ? chosen : "";
  }

  choose(name) {
    this.force.value = name;
  }
}
