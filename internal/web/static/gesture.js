// What a person did on a card, as the thread shows it: the Action or the form in words,
// and beneath it every byte that the model saw.

import { h } from "./dom.js";
import { canvasName } from "./canvas.js";

/** The bubble of a turn that a card sent; null for what a person wrote. */
export function gesture(turn, saw) {
  const used = actionOf(saw);
  const sent = !used && turn.request?.startsWith("act_") ? formOf(saw) : null;
  if (!used && !sent) return null;
  const name = used && canvasName(used.surface);
  const said = used
    ? h("span", {}, name ? ["Used the canvas ", h("bdi", {}, name), ": "] : "Used the card: ", h("strong", {}, used.action))
    : [h("span", {}, "Sent from the card:"), h("dl", {}, sent.map(([label, value]) => h("div", {}, h("dt", { dir: "auto" }, label), h("dd", { dir: "auto" }, value))))];
  return h("div", { class: "bubble gesture" }, said, h("details", {}, h("summary", {}, "What the model saw"), h("code", {}, saw)));
}

/** An Action as a model reads it: null for other texts. */
function actionOf(text) {
  const a = text.startsWith('{"action":') ? objectOf(text) : null;
  return a && typeof a.action === "string" && typeof a.surface === "string" ? a : null;
}

/** The labels of a form with what was put in, as texts: null for what no form sends. */
function formOf(text) {
  const entries = Object.entries(objectOf(text) ?? {}).map(([label, value]) => [label, worded(value)]);
  return entries.length && entries.every(([, value]) => value !== null) ? entries : null;
}

function objectOf(text) {
  if (!text.startsWith("{")) return null;
  try {
    const v = JSON.parse(text);
    return v && !Array.isArray(v) ? v : null;
  } catch {
    return null;
  }
}

/** A value as a person says it; null for an object. */
function worded(value) {
  if (value === null || value === "") return "(nothing)";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) {
    const all = value.map(worded);
    return all.includes(null) ? null : all.join(", ") || "(nothing)";
  }
  return typeof value === "object" ? null : String(value);
}
