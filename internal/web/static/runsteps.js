// The steps of a run: what each of its records says, and what had been used by then.

import { h } from "./dom.js";
import { fill } from "./text.js";

const textOf = (message) => (message?.parts || []).map((p) => p.text || "").join("\n");
const json = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
const ms = (ns) => (ns >= 1e9 ? (ns / 1e9).toFixed(2) + " s" : Math.round(ns / 1e4) / 100 + " ms");

const part = (name, text) => (text ? h("div", { class: "part" }, h("span", {}, name), h("pre", { tabindex: "0", dir: "auto" }, text)) : null);
const folded = (name, text) => (text ? h("details", {}, h("summary", {}, name), h("pre", { tabindex: "0", dir: "auto" }, text)) : null);
const effect = (name) => name && h("span", { class: "tag" + (name === "write" || name === "irreversible" ? " risky" : ""), title: "The effect of the call" }, name);

function said(text) {
  const body = h("div", { class: "body" });
  fill(body, text);
  return body;
}

const views = {
  "run.opened": (b) => ({
    title: "Task",
    what: b.mode,
    parts: [
      said(b.task.instruction),
      folded("What the model is shown first", b.messages.map((m) => m.role + "\n" + textOf(m)).join("\n\n")),
      folded(`Tools (${b.tools?.length || 0})`, (b.tools || []).map((t) => t.name + ": " + (t.description || "")).join("\n")),
    ],
  }),
  hop: (b) => ({
    title: b.message ? "The model says" : "Model call",
    bad: !!b.error,
    what: `${b.usage.prompt_tokens} + ${b.usage.output_tokens} tokens, ${b.usage.cached_tokens} cached, ${ms(b.usage.total_ns)}`,
    parts: [
      folded("Reasoning", b.message?.reasoning),
      textOf(b.message) && said(textOf(b.message)),
      (b.message?.tool_calls || []).map((c) => part("asks for " + c.name, c.arguments)),
      b.error && part(b.error, b.detail || ""),
    ],
  }),
  "tool.called": (b) => ({ title: "Calls " + b.name, within: !!b.parent, tag: effect(b.effect), what: b.attempt > 1 ? "attempt " + b.attempt : "", parts: [part("arguments", json(b.arguments))] }),
  "tool.returned": (b) => ({
    title: b.name + (b.error ? (b.error.refused ? " was refused" : b.error.unknown ? " may have been done" : " failed") : " returned"),
    within: !!b.parent,
    bad: !!b.error,
    what: ms(b.wall_ns),
    parts: [
      b.error && part(b.error.code, b.error.message),
      part("shown to the model", b.shown),
      b.value !== undefined && folded("The whole result, as code gets it", json(b.value)),
      b.artifacts && folded("Artifacts", b.artifacts.map((a) => `${a.name} (${a.bytes} bytes)`).join("\n")),
    ],
  }),
  "cell.ran": (b) => ({
    title: "Python",
    bad: b.status !== "ok",
    what: `${b.status}, ${ms(b.wall_ns)}${b.calls ? ", " + b.calls + " calls" : ""}`,
    parts: [part("code", b.code), part("output", b.output), part("value", b.value), part("traceback", b.traceback), b.reason && part("reason", b.reason), folded("Shown to the model", b.shown)],
  }),
  "run.note": (b) => note(b),
  "run.closed": (b) => ({
    title: (kindOf(b.status) === "open" || b.status === "in_doubt" ? "Stands still: " : "Ended: ") + statusName(b.status),
    bad: kindOf(b.status) === "bad",
    parts: [b.reason && h("p", {}, b.reason), b.answer && said(b.answer), b.outputs && folded("Outputs", b.outputs.map((f) => `${f.path} (${f.bytes} bytes)`).join("\n"))],
  }),
};

const notes = {
  hook: (b) => ({ title: `Check ${b.name}: ${b.ok ? "passed" : "not yet"}`, bad: b.ok === false, what: b.round ? "round " + b.round : "", parts: [part("says", b.text)] }),
  message: (b) => ({ title: "The model is told", parts: [part("text", b.text)] }),
  "approval.asked": (b) => ({ title: "Asks for a person", parts: [part("call", pretty(b.text))] }),
  "approval.given": (b) => ({ title: "A person said yes", parts: [part("reason", b.text)] }),
  "approval.refused": (b) => ({ title: "A person said no", bad: true, parts: [part("reason", b.text)] }),
  "doubt.retry": () => ({ title: "A person wants the call made again", parts: [] }),
  "doubt.done": () => ({ title: "A person knows that the call was carried out", parts: [] }),
  skill: (b) => ({ title: "Read the skill " + b.name, parts: [] }),
  "memory.added": (b) => ({ title: "Remembered", what: b.name, parts: [part("item", b.text)] }),
  "memory.forgotten": (b) => ({ title: "Forgot an item", what: b.name, parts: [] }),
  snapshot: (b) => ({ title: "Snapshot of the workspace", parts: [folded(`Files (${b.files?.length || 0})`, (b.files || []).map((f) => `${f.path} (${f.bytes} bytes)`).join("\n"))] }),
  resumed: () => ({ title: "Went on", parts: [] }),
  cancel: () => ({ title: "A person wants it to end", parts: [] }),
  reset: (b) => ({ title: "A new Python namespace", parts: [part("lost", b.text)] }),
};

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const note = (b) => (notes[b.note] || ((x) => ({ title: x.note, parts: [part("text", x.text)] })))(b);

const names = {
  running: "running", stopped: "stopped", waiting: "waits for you", in_doubt: "in doubt", done: "done", failed: "failed", cancelled: "cancelled", gate_failed: "a check did not pass",
  out_of_turns: "out of turns", out_of_tokens: "out of tokens", out_of_time: "out of time", out_of_tool_calls: "out of tool calls", out_of_money: "out of money",
};
export const statusName = (status) => names[status] || status;
export const kindOf = (status) => (status === "done" ? "good" : ["running", "waiting", "stopped"].includes(status) ? "open" : "bad");

/** The element of the n-th record, from 1; null for a kind that is no step. */
export function stepView(record, n) {
  const view = views[record.kind]?.(record.body);
  if (!view) return null;
  return h(
    "article",
    { class: "step" + (view.within ? " within" : "") + (view.bad ? " bad" : ""), tabindex: "-1", data: { n, kind: record.kind }, "aria-label": `Step ${n}: ${view.title}` },
    h("header", {}, h("h2", {}, view.title), view.tag, h("span", { class: "what num" }, view.what || "")),
    view.parts,
  );
}

/** What a run had used after some records: {turns, tokens, calls, cost, ms}. */
export function spent(records) {
  const u = { turns: 0, tokens: 0, calls: 0, cost: 0, ms: 0 };
  for (const { kind, body, time } of records) {
    if (kind === "hop") {
      u.turns++;
      u.tokens += body.usage.prompt_tokens + body.usage.output_tokens;
      u.cost += body.cost_usd || 0;
    }
    if (kind === "tool.called") u.calls++;
    u.ms = kind === "run.closed" ? body.totals.wall_ns / 1e6 : Math.max(0, Date.parse(time) - Date.parse(records[0].time));
  }
  return u;
}

/** Shows what was used beside what may be. */
export function spentView(used, limits) {
  const row = (name, value, limit, shown = String) => {
    const bar = h("i");
    bar.style.setProperty("width", limit ? Math.min(100, (value / limit) * 100) + "%" : "0");
    return h("div", {}, h("dt", {}, name), h("dd", { class: "num" }, shown(value) + (limit ? " of " + shown(limit) : "")), limit ? h("span", { class: "meter", "aria-hidden": "true" }, bar) : null);
  };
  const seconds = (x) => (x / 1000).toFixed(x < 10000 ? 2 : 0) + " s";
  return h(
    "dl",
    { class: "spent", "aria-label": "Used of the budgets" },
    row("Model calls", used.turns, limits.turns), row("Tokens", used.tokens, limits.tokens), row("Tool calls", used.calls, limits.tool_calls),
    row("Time", used.ms, limits.wall_ms, seconds), (used.cost > 0 || limits.cost_usd) && row("Money", used.cost, limits.cost_usd, (x) => "$" + x.toFixed(4)),
  );
}
