// The page of lineage: what came of what, as a graph, and what the ledger says of one thing.

import * as api from "./api.js";
import { h, SVG } from "./dom.js";
import { named, setUpDrawer, setUpTheme } from "./shell.js";

const $ = (id) => document.getElementById(id);
const drawer = setUpDrawer();
const cell = { x: 220, y: 74, w: 176, h: 50 }; // of a node, in the graph's units
let graph = { nodes: [], edges: [] };

const short = (id) => id.replace("sha256:", "").slice(0, 12);
const clip = (text, n) => (text.length > n ? text.slice(0, n - 1) + "…" : text);

function svg(tag, attributes, ...children) {
  const el = document.createElementNS(SVG, tag);
  for (const [k, v] of Object.entries(attributes)) el.setAttribute(k, v);
  el.append(...children);
  return el;
}

function node(n, chosen) {
  const x = n.column * cell.x;
  const y = n.row * cell.y;
  const names = n.names ?? [];
  const kind = ["node", n.failed ? "failed" : "", names.length ? "named" : "", n.id === chosen ? "chosen" : ""].join(" ").trim();
  const words = [n.title, ...names].join(", ");
  return svg("a", { href: "#" + short(n.id), class: kind, "aria-label": words, "data-id": short(n.id) },
    svg("rect", { x, y, width: cell.w, height: cell.h, rx: 9 }),
    svg("text", { x: x + 10, y: y + 21, class: "title" }, clip(words, 24)),
    svg("text", { x: x + 10, y: y + 39, class: "id" }, short(n.id)));
}

function edge(e, at) {
  const [a, b] = [at.get(e.from), at.get(e.to)];
  const [x0, y0] = [a.column * cell.x + cell.w, a.row * cell.y + cell.h / 2];
  const [x1, y1] = [b.column * cell.x, b.row * cell.y + cell.h / 2];
  const bend = Math.max(20, (x1 - x0) / 2);
  return svg("path", { class: "edge", d: `M${x0} ${y0}C${x0 + bend} ${y0} ${x1 - bend} ${y1} ${x1} ${y1}` });
}

function draw(chosen) {
  const at = new Map(graph.nodes.map((n) => [n.id, n]));
  const wide = Math.max(1, graph.wide) * cell.x;
  const high = Math.max(1, graph.high) * cell.y;
  const picture = svg("svg", { viewBox: `-4 -4 ${wide} ${high}`, width: wide, height: high, role: "group", "aria-label": "What came of what" },
    ...graph.edges.filter((e) => at.has(e.from) && at.has(e.to)).map((e) => edge(e, at)), ...graph.nodes.map((n) => node(n, chosen)));
  return h("div", { class: "graph", tabindex: "0" }, picture);
}

function about(n) {
  return h("section", { class: "told" }, h("h2", {}, n.title), (n.names ?? []).map((x) => h("strong", { class: "alias" }, x)), h("p", { class: "id" }, n.id),
    h("ul", {}, (n.lines ?? []).map((line) => h("li", {}, line))));
}

function tell(cause) {
  $("notice").hidden = !cause;
  if (!cause) return;
  $("notice").className = "notice error";
  const parts = [h("span", {}, cause.next ? `${cause.message}: ${cause.next}` : cause.message)];
  if (cause.code === "unauthenticated") {
    const key = h("input", { type: "password", "aria-label": "Key", autocomplete: "off" });
    const use = () => {
      api.keep(key.value.trim());
      tell(null);
      load();
    };
    parts.push(key, h("button", { type: "button", class: "plain", on: { click: use } }, "Use this key"));
  }
  $("notice").replaceChildren(...parts);
}

function list() {
  const shown = graph.nodes.filter((n) => n.names?.length || n.what === "release");
  const item = (n) => h("li", {}, h("a", { href: "#" + short(n.id), title: n.id }, h("span", { class: "name" }, (n.names ?? []).join(", ") || n.title), h("span", { class: "status" }, short(n.id))));
  $("sessions").replaceChildren(h("ul", {}, shown.map(item)), shown.length ? "" : h("p", { class: "muted" }, "No release was made yet."));
}

function show() {
  drawer.close();
  const id = named();
  const chosen = graph.nodes.find((n) => id && (short(n.id) === id || n.id === id || n.names?.includes(id)));
  $("title").textContent = chosen ? chosen.title : "Lineage";
  $("run").replaceChildren(graph.nodes.length ? draw(chosen?.id) : h("p", { class: "muted" }, "The ledger is empty."), chosen ? about(chosen) : "");
}

async function load() {
  try {
    graph = (await api.lineage()).graph;
    graph.nodes ??= [];
    graph.edges ??= [];
  } catch (cause) {
    return tell(cause);
  }
  list();
  show();
}

setUpTheme();
addEventListener("hashchange", show);
load();
