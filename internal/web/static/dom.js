// Builds elements. Text only ever becomes text nodes: there is no way through here
// from a string to markup.

export const SVG = "http://www.w3.org/2000/svg";

/**
 * Makes an element. In props, "class" sets the class, "data" the dataset, "on" the
 * listeners, true and false set and drop an attribute, anything else is an attribute.
 * Children are nodes or text; null and false are left out.
 */
export function h(tag, props = {}, ...children) {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === "class") el.className = value;
    else if (name === "data") Object.assign(el.dataset, value);
    else if (name === "on") for (const [event, f] of Object.entries(value)) el.addEventListener(event, f);
    else if (value === true) el.setAttribute(name, "");
    else if (value !== false && value != null) el.setAttribute(name, String(value));
  }
  for (const child of children.flat(Infinity)) if (child != null && child !== false) el.append(child);
  return el;
}

/** A button with an icon and a name for those who do not see it. */
export function iconButton(name, label, onclick, props = {}) {
  return h("button", { type: "button", class: "icon", "aria-label": label, title: label, on: { click: onclick }, ...props }, icon(name));
}

const paths = {
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6L6 18",
  plus: "M12 5v14M5 12h14",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M7.5 7.5h9v9h-9z",
  copy: "M9 9h10v11H9zM5 15V4h10",
  check: "M5 12.5l4.5 4.5L19 7.5",
  again: "M19 8a8 8 0 1 0 1 6M19.5 3.5V8.5h-5",
  edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  up: "M7 11v9H4v-9zM7 11l4-7c1.7 0 2.5 1.2 2.2 2.7L12.6 10H18c1.3 0 2.2 1.1 1.9 2.4l-1.3 6c-.2 1-1 1.6-2 1.6H7",
  down: "M7 13V4H4v9zM7 13l4 7c1.7 0 2.5-1.2 2.2-2.7L12.6 14H18c1.3 0 2.2-1.1 1.9-2.4l-1.3-6c-.2-1-1-1.6-2-1.6H7",
  details: "M5 19V11M12 19V5M19 19v-6",
  picture: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9.5h.01",
  save: "M12 4v11M7 11l5 5 5-5M5 20h14",
  latest: "M12 5v14M6 13l6 6 6-6",
  prev: "M14 6l-6 6 6 6",
  next: "M10 6l6 6-6 6",
  system: "M4 5h16v11H4zM9 20h6M12 16v4",
  light: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4",
  dark: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z",
};

/** A line drawing of 24 by 24 units in the colour of the text around it. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", paths[name]);
  svg.append(path);
  return svg;
}

/** Puts text on the clipboard and shows on the button that it is there. */
export async function copyText(button, text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    announce("The browser did not allow copying. Select the text instead.");
    return;
  }
  button.replaceChildren(icon("check"));
  announce("Copied");
  setTimeout(() => button.replaceChildren(icon("copy")), 1500);
}

/** Says something to those who listen to the page. */
export function announce(text) {
  document.getElementById("announce").textContent = text;
}
