// Asks the person before something destructive. The dialogue is the host's: it lies over
// the whole page, and no card can draw on it or press its button.

const pause = 600; // milliseconds until it can be confirmed: a click meant for the card comes too early

/** Gives a promise of whether the person confirms. */
export function confirm(near, action, card) {
  const dialog = document.createElement("dialog");
  dialog.className = "ui4a-confirm";
  dialog.append(
    line("h2", "Do you want this?"),
    line("p", action.capability ? `The card asks to use: ${action.capability}` : "The card asks to do something that may not be undone:"),
    line("p", action.name ?? action.text, "ui4a-asked"),
    values(action, card),
  );
  const no = button("No", "no");
  const yes = button("Yes, do it", "yes");
  yes.disabled = true;
  dialog.append(no, yes);
  near.append(dialog);
  dialog.showModal();
  no.focus();
  setTimeout(() => (yes.disabled = false), pause);
  return new Promise((answer) => {
    const end = (confirmed) => {
      dialog.remove();
      answer(confirmed);
    };
    no.addEventListener("click", () => end(false));
    yes.addEventListener("click", (e) => e.isTrusted && end(true));
    dialog.addEventListener("cancel", () => end(false));
  });
}

function values(action, card) {
  const list = document.createElement("dl");
  for (const [key, value] of Object.entries(action.state)) {
    const shown = card.keys[key]?.noai ? "(private)" : JSON.stringify(value).slice(0, 200);
    list.append(line("dt", key), line("dd", shown));
  }
  return list;
}

function line(tag, text, name) {
  const e = document.createElement(tag);
  e.textContent = text;
  if (name) e.className = name;
  return e;
}

function button(text, name) {
  const b = line("button", text, `ui4a-${name}`);
  b.type = "button";
  return b;
}
