// The page of training: the runs, and the charts of one, live while it trains.

import * as api from "./api.js";
import { h, SVG } from "./dom.js";
import { named, setUpDrawer, setUpTheme } from "./shell.js";

const $ = (id) => document.getElementById(id);
const drawer = setUpDrawer();
const refresh = 5000; // ms between two looks at the list
const pause = 1000; // ms until a stream that ended is asked for again
let listed = [];
let shown = null; // {id, run, lines, stop}: the run that the address names

const bytes = (x) => (x >= 2 ** 30 ? (x / 2 ** 30).toFixed(2) + " GiB" : (x / 2 ** 20).toFixed(0) + " MiB");
const number = (x) => (x !== 0 && (Math.abs(x) < 0.001 || Math.abs(x) >= 1e6) ? x.toExponential(2) : String(Number(x.toPrecision(4))));

// What is drawn, in this order, where a run has it.
const charts = [
  { names: ["loss"], title: "Loss" },
  { names: ["reward"], title: "Reward" },
  { names: ["kl", "teacher_kl"], title: "KL" },
  { names: ["advantage"], title: "Advantage" },
  { names: ["tokens_per_second"], title: "Tokens per second" },
  { names: ["memory_bytes"], title: "Memory", text: bytes },
  { names: ["grad_norm"], title: "Gradient norm" },
  { names: ["learning_rate"], title: "Learning rate" },
];

/** The path of a curve through [x, y] pairs, in a box of 300 by 100. Halves are subtracted: the difference of two numbers may be too large for one. */
export function path(points) {
  const xs = points.map((p) => p[0]);
  const ys = points.map((p) => p[1]);
  const span = (all) => [Math.min(...all), Math.max(...all)];
  const [x0, x1] = span(xs);
  const [y0, y1] = span(ys);
  const at = (v, from, to, size) => (to / 2 - from / 2 > 0 ? ((v / 2 - from / 2) / (to / 2 - from / 2)) * size : size / 2);
  return points.map(([x, y], i) => `${i ? "L" : "M"}${at(x, x0, x1, 300).toFixed(1)} ${(100 - at(y, y0, y1, 100)).toFixed(1)}`).join("");
}

/** At most n of the points, the first and the last among them. */
export function thin(points, n = 600) {
  if (points.length <= n) return points;
  return Array.from({ length: n }, (_, i) => points[Math.round((i * (points.length - 1)) / (n - 1))]);
}

function chart({ names, title, text = number }, lines) {
  const name = names.find((n) => lines.some((l) => n in l));
  if (!name) return null;
  const points = lines.filter((l) => name in l).map((l) => [l.step, l[name]]);
  const values = points.map((p) => p[1]);
  const last = text(values.at(-1));
  const svg = document.createElementNS(SVG, "svg");
  for (const [k, v] of Object.entries({ viewBox: "-2 -4 304 108", preserveAspectRatio: "none", role: "img", "aria-label": `${title}, now ${last}` })) svg.setAttribute(k, v);
  const curve = document.createElementNS(SVG, "path");
  curve.setAttribute("class", "curve");
  curve.setAttribute("d", path(thin(points)));
  svg.append(curve);
  const range = `${text(values.reduce((a, b) => Math.min(a, b)))} to ${text(values.reduce((a, b) => Math.max(a, b)))}`;
  return h("figure", { class: "chart", data: { metric: name } }, h("figcaption", {}, title, h("strong", {}, last)), svg, h("div", { class: "ends" }, h("span", {}, `step ${points[0][0]}`), h("span", {}, range), h("span", {}, String(points.at(-1)[0]))));
}

function tell(cause) {
  $("notice").hidden = !cause;
  if (!cause) return;
  $("notice").className = "notice error";
  const words = h("span", {}, cause.next ? `${cause.message}: ${cause.next}` : cause.message);
  const parts = [words];
  if (cause.code === "unauthenticated") {
    const key = h("input", { type: "password", "aria-label": "Key", autocomplete: "off" });
    const use = () => {
      api.keep(key.value.trim());
      tell(null);
      list().then(show);
    };
    parts.push(key, h("button", { type: "button", class: "plain", on: { click: use } }, "Use this key"));
  }
  $("notice").replaceChildren(...parts);
}

async function list() {
  try {
    listed = (await api.trainings()).data;
  } catch (cause) {
    return tell(cause);
  }
  drawList();
}

function drawList() {
  const item = (r) =>
    h("li", {}, h("a", { href: "#" + encodeURIComponent(r.id), "aria-current": r.id === shown?.id ? "page" : false, title: r.id }, h("span", { class: "name", dir: "auto" }, r.base), h("span", { class: "status" }, `${r.steps} steps, ${new Date(r.created).toLocaleString()}`)));
  const parts = [h("ul", {}, listed.map(item))];
  if (!listed.length) parts.push(h("p", { class: "muted" }, "Nothing was trained yet."));
  $("sessions").replaceChildren(...parts);
}

/** Shows the run that the address names, and stays with it. */
async function show() {
  shown?.stop.abort();
  const id = named();
  drawer.close();
  const view = (shown = id ? { id, run: null, lines: [], stop: new AbortController() } : null);
  drawList();
  $("title").textContent = "Training";
  $("run").replaceChildren(h("p", { class: "muted" }, id ? "Reading…" : "Choose a run to see its curves."));
  if (!view) return;
  try {
    while (view === shown) await follow(view);
  } catch (cause) {
    if (view === shown && cause.name !== "AbortError") tell(cause);
  }
}

/** Reads a run from its beginning and takes what comes, until the stream ends or a step comes again: a run that goes on from a checkpoint has dropped what was behind it. */
async function follow(view) {
  const lines = [];
  let at = 0;
  for (;;) {
    const part = await api.training(view.id, at);
    if (view !== shown) return;
    view.run = part.run;
    lines.push(...part.data);
    at = part.next;
    if (!part.data.length) break;
  }
  view.lines = lines;
  draw();
  for await (const line of api.trainingEvents(view.id, at, view.stop.signal)) {
    if (view !== shown) return;
    if (line.step < lines.at(-1)?.step) break;
    lines.push(line);
    soon();
  }
  await new Promise((done) => setTimeout(done, pause));
}

let due = false;
function soon() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    if (shown?.run) draw();
  });
}

const units = [
  [86400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
];

/** How far a run is of the steps that it will have, and when it is there at the pace so far, of the process that has it now. */
export function progress(steps, planned, lines) {
  if (!planned) return `${steps} steps`;
  const last = lines.at(-1);
  const first = lines.find((l) => l.resumed === last?.resumed);
  const left = lines.length > 1 && last.step > first.step ? ((last.time - first.time) / (last.step - first.step)) * (planned - steps) : 0;
  if (!(left > 0)) return `${steps} of ${planned} steps`;
  const [size, unit] = units.find(([s]) => left >= s) ?? units.at(-1);
  return `${steps} of ${planned} steps, ${Math.round(left / size)} ${unit} left`;
}

function draw() {
  const { run, lines } = shown;
  const steps = lines.at(-1)?.step ?? run.steps;
  $("title").textContent = run.base;
  document.title = run.base + " - Training - Macaron";
  const about = h("div", { class: "about" }, h("strong", {}, progress(steps, run.planned ?? lines.at(-1)?.planned, lines)), run.rank ? h("span", {}, `rank ${run.rank}`) : null, h("span", {}, new Date(run.created).toLocaleString()), h("span", { class: "name", dir: "auto" }, run.id));
  const drawn = charts.map((c) => chart(c, lines)).filter(Boolean);
  $("run").replaceChildren(about, drawn.length ? h("div", { class: "charts" }, drawn) : h("p", { class: "muted" }, "Its first step comes soon."));
}

setUpTheme();
addEventListener("hashchange", () => {
  tell(null);
  show();
});
await list();
show();
setInterval(() => document.hidden || list(), refresh);
