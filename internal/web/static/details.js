// The panel under an answer: who could have answered, what each model call cost, and
// by which names the log knows the turn.

import { h } from "./dom.js";

const hops = { route: "Route", answer: "Answer", summary: "Summary" };

export const percent = (p) => (p >= 0.995 && p < 1 ? "> 99" : p > 0 && p < 0.005 ? "< 1" : Math.round(p * 100)) + "\u2009%";

const milliseconds = (ms) => (ms >= 1000 ? (ms / 1000).toFixed(2) + " s" : (ms >= 10 ? Math.round(ms) : ms.toFixed(1)) + " ms");

export function details(turn, specialists) {
  return h("div", { class: "details" }, probabilities(turn, specialists), hopTable(turn, specialists), names(turn));
}

function probabilities(turn, specialists) {
  const all = Object.entries(turn.probabilities || {}).sort((a, b) => b[1] - a[1]);
  if (!all.length) return h("p", { class: "muted" }, noRoute(turn));
  const rows = all.map(([name, p]) => {
    const fill = h("i");
    fill.style.setProperty("width", p * 100 + "%");
    const bar = h("span", { class: "meter" }, fill);
    specialists.tint(bar, name);
    return h("li", { class: name === turn.adapter ? "chosen" : "" }, h("span", {}, specialists.title(name)), bar, h("span", { class: "num" }, percent(p)));
  });
  return h("ul", { class: "labels", "aria-label": "Probability of each specialist" }, rows);
}

function noRoute(turn) {
  if (turn.reason === "forced") return "You chose the specialist, so nothing was routed.";
  if (turn.route_error) return "Routing failed, so the default answered: " + turn.route_error;
  return "No probabilities were recorded for this turn.";
}

function hopTable(turn, specialists) {
  if (!turn.hops?.length) return null;
  const cell = (text) => h("td", { class: "num" }, text);
  const rows = turn.hops.map((hop) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, hops[hop.hop] || hop.hop, h("small", {}, specialists.title(hop.adapter))),
      cell(String(hop.prompt_tokens)), cell(String(hop.cached_tokens)), cell(String(hop.output_tokens)),
      cell(milliseconds(hop.first_ms)), cell(milliseconds(hop.total_ms)),
    ),
  );
  const heads = ["Call", "Prompt", "Cached", "Out", "First", "Total"].map((name) => h("th", { scope: "col" }, name));
  return h("div", { class: "wide", tabindex: "0", "aria-label": "Model calls: tokens and times" }, h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows)));
}

function names(turn) {
  const short = (digest) => (digest ? digest.replace("sha256:", "").slice(0, 12) : "");
  const rows = [
    ["Summary", turn.summary ? turn.summary.text : turn.status === "delivered" ? "not written yet" : ""],
    ["Turn", turn.id],
    ["Revision", short(turn.revision)],
    ["Contract", short(turn.contract)],
  ].filter(([, value]) => value);
  return h("dl", {}, rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}
