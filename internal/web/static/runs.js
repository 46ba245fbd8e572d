// The page of runs: their list, and one of them step by step, live while it runs.

import * as api from "./api.js";
import { announce, h, icon, iconButton } from "./dom.js";
import { setUpDrawer, setUpTheme } from "./shell.js";
import { kindOf, spent, spentView, statusName, stepView } from "./runsteps.js";
import { verdictView } from "./verdict.js";

const $ = (id) => document.getElementById(id);
const pause = 700; // ms between two looks at a run that goes on
const drawer = setUpDrawer();
let listed = { items: [], more: false };
let shown = null; // {id, run, records, steps, at, follow, busy}: the run that the address names

async function list(before = "") {
  try {
    const answer = await api.runs(before);
    listed = { items: before ? [...listed.items, ...answer.data] : answer.data, more: answer.has_more };
  } catch (cause) {
    return tell(cause);
  }
  drawList();
}

function drawList() {
  const parts = [h("ul", {}, listed.items.map((r) => item(r)))];
  if (!listed.items.length) parts.push(h("p", { class: "muted" }, "No run yet. Start one with macaron run start."));
  if (listed.more) parts.push(h("button", { type: "button", class: "plain", on: { click: () => list(listed.items.at(-1).id) } }, "Older runs"));
  $("sessions").replaceChildren(...parts);
}

function item(r) {
  const status = h("span", { class: "status", data: { kind: kindOf(r.status) } }, statusName(r.status));
  return h("li", {}, h("a", { href: "#" + r.id, "aria-current": r.id === shown?.id ? "page" : false, title: new Date(r.opened).toLocaleString() }, h("span", { class: "name", dir: "auto" }, r.title || r.id), status));
}

/** Shows the run that the address names. */
async function show() {
  const id = location.hash.startsWith("#run_") ? location.hash.slice(1) : "";
  drawer.close();
  shown = id ? { id, run: null, records: [], steps: [], at: 0, follow: true, busy: false } : null;
  drawList();
  $("player").hidden = true;
  $("title").textContent = "Runs";
  $("run").replaceChildren(h("p", { class: "muted" }, id ? "Reading the log…" : "Choose a run to see it step by step."));
  if (id) await look(shown);
}

/** Reads what is new of a run, and comes again while it runs. */
async function look(view) {
  try {
    const status = view.run?.status;
    const run = await api.run(view.id); // first, so that the records of its end are there
    for (let more = [null]; more.length && view === shown; ) {
      more = await api.runRecords(view.id, view.records.at(-1)?.seq || 0);
      view.records.push(...more);
    }
    if (view !== shown) return;
    view.run = run;
    if (status && status !== run.status) {
      announce("The run " + statusName(run.status));
      list();
    }
    draw();
  } catch (cause) {
    if (view === shown) tell(cause);
    return;
  }
  if (view.run.status === "running") setTimeout(() => view === shown && look(view), pause);
}

function draw() {
  const { run, records } = shown;
  const title = run.task.instruction.split("\n")[0].slice(0, 120);
  $("title").textContent = title;
  document.title = title + " - Runs - Macaron";
  let box = $("steps");
  if (!box) {
    box = h("div", { id: "steps", role: "feed", "aria-label": "Steps" });
    shown.verdict = verdictView(judging(shown), tell);
    $("run").replaceChildren(h("div", { id: "head" }), h("div", { id: "asks" }), shown.verdict.el, box);
  }
  shown.verdict.show(run);
  for (const r of records.slice(shown.read || 0)) {
    const el = stepView(r, shown.steps.length + 1);
    if (el) shown.steps.push({ el, upTo: records.indexOf(r) + 1 });
    if (el) box.append(el);
  }
  shown.read = records.length;
  if (shown.follow) shown.at = shown.steps.length;
  go(shown.at, false);
}

/** Keeps what a person says of a run, as macaron run judge does. */
const judging = (view) => async (score) => {
  await api.decide(view.id, "feedback", { score });
  view.run.feedback = score;
  $("notice").hidden = true;
};

/** Shows the run as it was after n steps. */
function go(n, byHand = true) {
  const { steps, records, run } = shown;
  shown.at = Math.max(1, Math.min(steps.length, n));
  shown.follow = shown.at === steps.length;
  steps.forEach(({ el }, i) => {
    el.hidden = i >= shown.at;
    if (i === shown.at - 1) el.setAttribute("aria-current", "step");
    else el.removeAttribute("aria-current");
  });
  $("head").replaceChildren(...head(run, records.slice(0, steps[shown.at - 1]?.upTo || 0)));
  const asked = [run.status, run.waits?.call, shown.busy].join(" ");
  if (shown.asked !== asked) $("asks").replaceChildren(...asks(run)); // else the focus stays where it is
  shown.asked = asked;
  $("player").hidden = false;
  $("at").max = String(steps.length);
  $("at").min = "1";
  $("at").value = String(shown.at);
  $("where").textContent = `${shown.at} of ${steps.length}`;
  $("before").disabled = shown.at <= 1;
  $("after").disabled = shown.at >= steps.length;
  if (byHand) steps[shown.at - 1]?.el.scrollIntoView({ block: "nearest" });
}

function head(run, records) {
  const about = h("div", { class: "about" }, h("span", { class: "status", data: { kind: kindOf(run.status) } }, h("strong", {}, statusName(run.status))), h("span", {}, run.mode), h("span", {}, run.purpose), h("span", {}, run.pins.adapter.name || "base"), h("span", {}, new Date(run.opened).toLocaleString()));
  return [about, spentView(spent(records), run.limits)];
}

/** What a person can do now. */
function asks(run) {
  const button = (name, label, path, body, main) => h("button", { type: "button", class: main ? "primary" : "plain", disabled: shown.busy, data: { action: name }, on: { click: () => act(path, typeof body === "function" ? body() : body) } }, label);
  const cancel = button("cancel", "Cancel the run", "cancel", {});
  if (run.status === "running") return [h("div", { class: "buttons" }, cancel)];
  if (run.status === "waiting" && run.waits) {
    const words = (shown.words ||= h("input", { type: "text", maxlength: 500, placeholder: "Why (optional)", "aria-label": "Why" }));
    const answer = (yes) => () => ({ call: run.waits.call, approve: yes, ...(words.value.trim() && { reason: words.value.trim() }) });
    return [call("May it call " + run.waits.name + "?", run.waits, words, button("approve", "Allow", "approve", answer(true), true), button("deny", "Deny", "approve", answer(false)), cancel)];
  }
  if (run.status === "in_doubt" && run.waits)
    return [call("Nobody knows whether this call was carried out", run.waits, button("done", "It was done", "resume", { assume_done: run.waits.call }), button("retry", "Make it again", "resume", { retry: run.waits.call }), cancel)];
  if (run.resumable) return [h("div", { class: "buttons" }, button("resume", "Go on", "resume", {}, true), cancel)];
  return [];
}

const call = (question, waits, ...controls) =>
  h("section", { class: "asks", "aria-label": "Your decision" }, h("h2", {}, question), h("p", { class: "muted" }, "Effect: " + (waits.effect || "unknown")), waits.arguments && h("pre", { tabindex: "0" }, JSON.stringify(waits.arguments, null, 2)), h("div", { class: "buttons" }, controls));

async function act(path, body) {
  const view = shown;
  view.busy = true;
  go(view.at, false);
  try {
    await api.decide(view.id, path, body);
    view.words = null;
    $("notice").hidden = true;
  } catch (cause) {
    tell(cause);
  }
  view.busy = false;
  if (view !== shown) return;
  view.follow = true;
  look(view);
}

/** Shows a failure until it is closed or the next one; one for want of a key asks for it. */
function tell(failure) {
  const parts = [h("strong", {}, failure.message), failure.next ? ". To go on: " + failure.next + "." : "."];
  if (failure.code === "unauthenticated") {
    const key = h("input", { type: "password", id: "key", "aria-label": "API key", placeholder: "mk-...", autocomplete: "off", spellcheck: "false" });
    const use = () => {
      if (!key.value.trim()) return;
      api.keep(key.value.trim());
      $("notice").hidden = true;
      list();
      show();
    };
    key.addEventListener("keydown", (e) => e.key === "Enter" && use());
    parts.push(key, h("button", { type: "button", class: "plain", id: "use-key", on: { click: use } }, "Use it"));
  } else parts.push(iconButton("close", "Close this message", () => ($("notice").hidden = true)));
  $("notice").className = "notice " + (failure.code === "unauthenticated" ? "key" : "error");
  $("notice").replaceChildren(...parts);
  $("notice").hidden = false;
}

$("before").append(icon("prev"));
$("after").append(icon("next"));
$("before").addEventListener("click", () => go(shown.at - 1));
$("after").addEventListener("click", () => go(shown.at + 1));
$("at").addEventListener("input", () => go(Number($("at").value)));
$("skip").addEventListener("click", () => $("scroller").focus());
document.addEventListener("keydown", (e) => {
  if (e.key === "Escape" && drawer.isOpen()) return drawer.close();
  if (!shown?.steps.length || e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, textarea, select")) return;
  const to = { ArrowRight: shown.at + 1, ArrowLeft: shown.at - 1, Home: 1, End: shown.steps.length }[e.key];
  if (to === undefined) return;
  e.preventDefault();
  go(to);
});
addEventListener("hashchange", show);
setUpTheme();
list();
show();
