// Shows one turn: what the person wrote, who answered, the answer, what can be done.

import { h, icon, iconButton, copyText } from "./dom.js";
import { fill } from "./text.js";
import { gesture } from "./gesture.js";
import { details, percent } from "./details.js";
import { answerOf, textOf } from "./tree.js";

const reasons = {
  forced: ["chosen by you", "You asked for this specialist"],
  sticky: ["goes on", "The specialist that called a tool goes on with its result"],
  fallback: ["by default", "The router gave no usable label, so the default specialist answered"],
  single: ["the only one", "Only one specialist is registered"],
};

/**
 * Makes the element of a turn. The page gives the actions (again, edit, choose, judge,
 * explain), the specialists, and the state of the view: {details, editing, explaining}.
 */
export function turnView(turn, page, state) {
  const el = h("article", { class: "turn", data: { key: turn.key, status: turn.status } });
  el.append(...turn.said.map((m, i) => said(m, i === turn.said.length - 1, turn, page, state)));
  el.append(answer(turn, page, state));
  page.specialists.tint(el, turn.adapter);
  return el;
}

/** Shows a further piece of an answer without building the turn anew. */
export function showText(el, turn, page) {
  const body = el.querySelector(".answer > .body");
  body.classList.remove("waiting");
  page.cards.answer(body, turn, fill);
}

/**
 * Brings an element of a turn to what a newer one shows, and keeps the body of its answer
 * in its place: a frame in it would begin anew if it were moved.
 */
export function graft(old, el, turn, page) {
  const answer = old.querySelector(":scope > .answer");
  const newer = el.querySelector(":scope > .answer");
  for (const child of [...old.children]) if (child !== answer) child.remove();
  answer.before(...[...el.children].filter((child) => child !== newer));
  const body = answer.querySelector(":scope > .body");
  const other = newer.querySelector(":scope > .body");
  for (const child of [...answer.children]) if (child !== body) child.remove();
  const at = [...newer.children].indexOf(other);
  body.before(...[...newer.children].slice(0, at));
  body.after(...[...newer.children].slice(1)); // what stood before it has left
  body.className = other.className;
  Object.assign(old.dataset, el.dataset);
  page.specialists.tint(old, turn.adapter);
  page.cards.answer(body, turn, fill);
}

function said(message, last, turn, page, state) {
  if (message.role === "assistant") return h("div", { class: "body imported" }, ...rendered(textOf(message)));
  if (message.role !== "user") return h("div", { class: "tool-result" }, h("span", {}, "Tool result"), h("pre", {}, textOf(message)));
  if (last && state.editing) return editor(turn, textOf(message), page);
  const bubble = gesture(turn, textOf(message)) ?? h("div", { class: "bubble", dir: "auto" }, textOf(message) || "(no text)");
  return h("div", { class: "user" }, h("h2", { class: "hidden" }, "You"), bubble, last && userActions(turn, message, page));
}

function rendered(text) {
  const el = h("div");
  fill(el, text);
  return [...el.childNodes];
}

function userActions(turn, message, page) {
  const copy = iconButton("copy", "Copy your message", () => copyText(copy, textOf(message)), { data: { action: "copy-user" } });
  const edit = iconButton("edit", "Edit your message", () => page.edit(turn), { data: { action: "edit" }, disabled: page.busy() });
  return h("div", { class: "actions" }, switcher(turn, page), copy, edit);
}

/** Goes between the versions of a turn. */
function switcher(turn, page) {
  const all = page.siblings(turn);
  if (all.length < 2) return null;
  const at = all.indexOf(turn);
  const go = (step, label, name) =>
    iconButton(name, label, () => page.choose(all[at + step]), { disabled: !all[at + step], data: { action: name } });
  return h(
    "span",
    { class: "switcher", role: "group", "aria-label": "Versions of this turn" },
    go(-1, "Version before", "prev"), h("span", { class: "num" }, `${at + 1}/${all.length}`), go(1, "Version after", "next"),
  );
}

function editor(turn, text, page) {
  const area = h("textarea", { rows: Math.min(8, text.split("\n").length + 1), "aria-label": "Edit your message", data: { action: "editor" } });
  area.value = text;
  const save = () => area.value.trim() && page.saveEdit(turn, area.value);
  area.addEventListener("keydown", (e) => {
    if (e.key === "Escape") {
      e.stopPropagation();
      page.cancelEdit(turn);
    } else if (e.key === "Enter" && !e.shiftKey && !e.isComposing) {
      e.preventDefault();
      save();
    }
  });
  return h(
    "div",
    { class: "user editing" },
    area,
    h("div", { class: "row" }, h("button", { type: "button", class: "plain", on: { click: () => page.cancelEdit(turn) } }, "Cancel"), h("button", { type: "button", class: "primary", data: { action: "save-edit" }, on: { click: save } }, "Send")),
  );
}

function answer(turn, page, state) {
  const body = h("div", { class: "body" + (turn.running ? " running" : "") });
  const text = answerOf(turn);
  if (text) page.cards.answer(body, turn, fill);
  else if (turn.running) body.classList.add("waiting");
  return h("div", { class: "answer" }, head(turn, page), ...calls(turn), body, notice(turn, page), actions(turn, page, state), state.explaining && reasonForm(turn, page), state.details && details(turn, page.specialists));
}

function head(turn, page) {
  const mac = h("span", { class: "mac" + (turn.running ? " baking" : ""), "aria-hidden": "true" }, h("i"), h("i"), h("i"));
  if (!turn.adapter) return h("header", {}, mac, h("span", { class: "muted" }, turn.running ? "Choosing a specialist…" : "No answer"));
  const label = page.specialists.title(turn.adapter) === turn.adapter ? null : h("span", { class: "label" }, turn.adapter);
  return h("header", {}, mac, h("h2", {}, page.specialists.title(turn.adapter)), label, certainty(turn));
}

/** How sure the router was, or why it was not asked. */
function certainty(turn) {
  const reason = reasons[turn.reason];
  if (reason) return h("span", { class: "tag", title: reason[1] }, reason[0]);
  const p = turn.probabilities?.[turn.adapter] ?? turn.probability;
  if (p == null) return null;
  const bar = h("i");
  bar.style.setProperty("width", p * 100 + "%");
  return h("span", { class: "certainty", title: "The router's probability for this specialist" }, h("span", { class: "meter", "aria-hidden": "true" }, bar), h("span", { class: "num" }, percent(p)));
}

function calls(turn) {
  return turn.trace
    .flatMap((m) => m.tool_calls || [])
    .map((c) => h("div", { class: "tool-result" }, h("span", {}, "Calls " + c.function.name), h("pre", {}, c.function.arguments)));
}

function notice(turn, page) {
  const retry = h("button", { type: "button", class: "plain", data: { action: "retry" }, disabled: page.busy(), on: { click: () => page.again(turn) } }, icon("again"), "Try again");
  if (turn.failure) {
    return h("div", { class: "notice error", role: "alert" }, h("p", {}, h("strong", {}, sentence(turn.failure.message)), " ", sentence(turn.failure.next)), retry);
  }
  if (turn.status === "interrupted") return h("div", { class: "notice" }, h("p", {}, "Stopped before the end. The log keeps it as interrupted."), retry);
  if (turn.status === "awaiting_tools") return h("div", { class: "notice" }, h("p", {}, "Waits for the result of a tool, from the program that offered it."));
  const cut = turn.finish === "length" || turn.hops?.some((x) => x.hop === "answer" && x.finish === "length");
  if (cut) return h("p", { class: "muted cut" }, "Cut at the longest length that the contract allows.");
  return null;
}

const sentence = (text) => (text ? text[0].toUpperCase() + text.slice(1).replace(/[.\s]*$/, ".") : "");

function actions(turn, page, state) {
  if (turn.running || !turn.id) return null;
  const copy = iconButton("copy", "Copy the answer", () => copyText(copy, answerOf(turn)), { data: { action: "copy" } });
  const thumb = (name, label, score) =>
    iconButton(name, label, () => page.judge(turn, turn.feedback === score ? 0 : score), { "aria-pressed": String(turn.feedback === score), data: { action: name } });
  const more = iconButton("details", "How this answer came about", () => page.toggleDetails(turn), { "aria-expanded": String(!!state.details), data: { action: "details" } });
  return h(
    "div",
    { class: "actions" },
    answerOf(turn) && copy,
    turn.status === "delivered" && [
      iconButton("again", "Answer again", () => page.again(turn), { disabled: page.busy(), data: { action: "again" } }),
      thumb("up", "Good answer", 1), thumb("down", "Bad answer", -1),
    ],
    more,
  );
}

/** Asks what was wrong; an answer is a record of its own. */
function reasonForm(turn, page) {
  const input = h("input", { type: "text", maxlength: 500, placeholder: "What was wrong? (optional)", "aria-label": "What was wrong?", data: { action: "reason" } });
  const send = () => page.explain(turn, input.value.trim());
  input.addEventListener("keydown", (e) => {
    if (e.key === "Enter" && !e.isComposing) {
      e.preventDefault(); // else the key goes on to the button that gets the focus
      send();
    } else if (e.key === "Escape") {
      e.stopPropagation();
      page.explain(turn, "");
    }
  });
  return h("div", { class: "reason" }, input, h("button", { type: "button", class: "plain", data: { action: "send-reason" }, on: { click: send } }, "Keep"));
}
