// The list of stored conversations, by day, newest first.

import { h } from "./dom.js";

const day = 24 * 60 * 60 * 1000;

function group(updated, now) {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const t = Date.parse(updated);
  if (t >= midnight) return "Today";
  if (t >= midnight - day) return "Yesterday";
  if (t >= midnight - 7 * day) return "Last seven days";
  return "Earlier";
}

/** Fills the list. Items are {id, title, updated, turns}; running(id) marks those being answered. */
export function showSessions(nav, { items, current, running, more, onMore }) {
  const now = Date.now();
  const groups = new Map();
  for (const s of items) {
    const name = group(s.updated, now);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(s);
  }
  const parts = [...groups].map(([name, list]) => h("section", {}, h("h2", {}, name), h("ul", {}, list.map((s) => item(s, s.id === current, running(s.id))))));
  if (!items.length) parts.push(h("p", { class: "muted" }, "Your conversations will appear here."));
  if (more) parts.push(h("button", { type: "button", class: "plain", on: { click: onMore } }, "Older conversations"));
  nav.replaceChildren(...parts);
}

function item(s, current, running) {
  const when = new Date(s.updated);
  return h(
    "li",
    {},
    h(
      "a",
      { href: "#" + s.id, "aria-current": current ? "page" : false, title: `${s.title || "Untitled"}\n${when.toLocaleString()}, ${s.turns} ${s.turns === 1 ? "turn" : "turns"}` },
      h("span", { class: "name", dir: "auto" }, s.title || "Untitled"),
      running && h("span", { class: "dot", title: "An answer is being written" }),
    ),
  );
}
