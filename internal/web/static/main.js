// Puts the page together: which conversation is shown, what the person does with it,
// and how the server stands.

import * as api from "./api.js";
import { h, icon, iconButton } from "./dom.js";
import { Conversation } from "./conversation.js";
import { Cards } from "./cards.js";
import { Specialists } from "./specialists.js";
import { Thread, announceEnd, welcome } from "./thread.js";
import { Composer } from "./composer.js";
import { showSessions } from "./sidebar.js";
import { setUpDrawer, setUpTheme } from "./shell.js";

const $ = (id) => document.getElementById(id);
const open = new Map(); // session id -> Conversation, those seen since the page was loaded
let listed = { items: [], next: "" };
let ready = true;
let rounds = 0; // of watch
let current = fresh();
const tabs = new BroadcastChannel("macaron"); // other tabs of this page: which conversation has changed

const page = {
  specialists: new Specialists(),
  busy: () => !!current.run || !ready,
  cards: new Cards({
    turn: (id) => current.tree.turns.find((t) => t.id === id),
    busy: () => page.busy(),
    ask(text, request, force = "") {
      thread.toEnd();
      current.ask(text, force, request);
    },
    changed: (turn) => (turn.running ? thread.text(turn) : draw()),
    kept: () => tabs.postMessage(current.id),
    old: () => again(),
  }),
  after: (turn) => current.tree.before(turn).findLast((t) => t.id && t.status === "delivered")?.id ?? "",
  siblings: (turn) => current.tree.siblings(turn),
  welcome: () => welcome(page.specialists, composer.force.value, chooseSpecialist, (text) => composer.ready && current.ask(text, composer.force.value)),
  again: (turn) => current.again(turn, composer.force.value),
  choose(turn) {
    current.tree.choose(turn);
    draw();
  },
  edit(turn) {
    thread.edit(turn.key);
    draw();
    thread.focus(turn.key, "editor");
  },
  cancelEdit(turn) {
    thread.edit("");
    draw();
    thread.focus(turn.key, "edit");
  },
  saveEdit(turn, text) {
    thread.edit("");
    current.edit(turn, text, composer.force.value);
    composer.focus();
  },
  toggleDetails(turn) {
    turn.explained = thread.toggleDetails(turn.key);
    draw();
    current.refresh(); // the summary may have been written since
  },
  judge(turn, score) {
    thread.explaining = score < 0 ? turn.key : "";
    judge(turn, score);
    if (score < 0) thread.focus(turn.key, "reason");
  },
  explain(turn, reason) {
    thread.explaining = "";
    if (reason) judge(turn, -1, reason);
    draw();
    thread.focus(turn.key, "down");
  },
};

const thread = new Thread($("scroller"), $("thread"), page);
const composer = new Composer({
  onSend(text) {
    thread.toEnd();
    current.ask(text, composer.force.value);
  },
  onStop: () => current.stop(),
  async onPicture(name, blob) {
    try {
      if (!blob) throw new api.Failure("That file is no picture", "choose a PNG, JPEG or GIF");
      await api.putPicture(name, blob);
      return true;
    } catch (cause) {
      tell(cause);
      return false;
    }
  },
  onForce: chooseSpecialist,
});
const drawer = setUpDrawer();

function fresh(id = "") {
  const c = new Conversation(id, (turn, what) => changed(c, turn, what));
  return c;
}

function changed(conversation, turn, what) {
  if (what === "named") {
    open.set(conversation.id, conversation);
    if (conversation === current) history.replaceState(null, "", "#" + conversation.id);
  }
  if (what === "named" || what === "end") list();
  if (what === "end" && conversation.id) tabs.postMessage(conversation.id);
  if (turn?.failure) watch();
  if (conversation !== current) return;
  if (what === "text") return thread.text(turn);
  draw();
  if (what === "end") announceEnd(turn, page.specialists);
}

function draw() {
  thread.draw(current);
  composer.state(!!current.run, ready);
  const title = current.title || "New chat";
  $("title").textContent = title;
  document.title = current.title ? `${title} - Macaron` : "Macaron";
}

async function judge(turn, score, reason) {
  try {
    await current.judge(turn, score, reason);
  } catch (cause) {
    tell(cause);
  }
}

function chooseSpecialist(name) {
  composer.choose(name);
  if (!current.tree.turns.length) draw();
  composer.focus();
}

/** Shows the conversation that the address names. */
async function show() {
  const id = location.hash.startsWith("#ses_") ? location.hash.slice(1) : "";
  if (id && id === current.id && current.tree.turns.length) return;
  drawer.close();
  thread.clear();
  current = open.get(id) || fresh(id);
  draw();
  drawList();
  composer.focus();
  if (!id || open.has(id)) return;
  const loading = current;
  try {
    await loading.load();
    open.set(id, loading);
    loading.follow();
  } catch (cause) {
    if (loading === current) tell(cause);
  }
}

/** Reads again what the shown conversation has come to in other tabs. */
async function again() {
  const shown = current;
  if (!shown.id || shown.run) return;
  await shown.refresh();
  if (shown === current) await page.cards.renew();
}

function newChat() {
  if (location.hash) history.pushState(null, "", "/");
  current = fresh();
  thread.clear();
  drawer.close();
  draw();
  drawList();
  composer.focus();
}

async function list(before = "") {
  try {
    const answer = await api.sessions(before);
    listed = { items: before ? [...listed.items, ...answer.data] : answer.data, next: answer.next || "" };
  } catch {
    return; // the notice about the server says it already
  }
  drawList();
}

function drawList() {
  const running = (id) => !!open.get(id)?.run;
  showSessions($("sessions"), { items: listed.items, current: current.id, running, more: !!listed.next, onMore: () => list(listed.next) });
}

/** Shows a failure that belongs to no turn, until it is closed or the next one. */
function tell(failure) {
  if (failure.code === "unauthenticated") return askKey(failure.message);
  const close = iconButton("close", "Close this message", () => ($("notice").hidden = true));
  notice("error", [h("strong", {}, failure.message), failure.next ? ". To go on: " + failure.next + "." : ".", close]);
}

/** Asks for the key that the server wants, and begins anew with it. */
function askKey(why) {
  const key = h("input", { type: "password", id: "key", "aria-label": "API key", placeholder: "mk-...", autocomplete: "off", spellcheck: "false" });
  const use = () => {
    if (!key.value.trim()) return;
    api.keep(key.value.trim());
    $("notice").hidden = true;
    meet();
    list();
    show();
  };
  key.addEventListener("keydown", (e) => e.key === "Enter" && use());
  notice("key", [h("span", {}, "This server asks for an API key: " + why + "."), key, h("button", { type: "button", class: "plain", id: "use-key", on: { click: use } }, "Use it")]);
  key.focus();
}

function notice(kind, content) {
  $("notice").className = "notice " + kind;
  $("notice").replaceChildren(...content);
  $("notice").hidden = false;
}

/** Asks until the server can answer, then sees to it that the page knows the specialists. */
async function watch() {
  const round = ++rounds;
  const state = await api.readiness();
  if (round !== rounds) return; // a later question is under way
  const was = ready;
  ready = state.ready;
  if (!ready) notice(state.lost ? "error" : "loading", [h("span", { class: "spinner", "aria-hidden": "true" }), h("span", {}, state.reason + (state.next ? ": " + state.next : ""), ".")]);
  else if (!was) $("notice").hidden = true;
  if (ready !== was) draw();
  if (ready && !page.specialists.all.length) await meet();
  if (!ready) setTimeout(() => round === rounds && watch(), 1000);
}

async function meet() {
  try {
    page.specialists.set(await api.adapters());
  } catch (cause) {
    tell(cause);
    return;
  }
  composer.specialists(page.specialists.all);
  draw();
}

$("new-chat").append(icon("plus"), "New chat");
$("new-chat").addEventListener("click", newChat);
$("skip").addEventListener("click", () => composer.focus());
addEventListener("hashchange", show);
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  watch();
  again();
});
addEventListener("focus", again);
tabs.addEventListener("message", (e) => e.data === current.id && again());
addEventListener("popstate", () => !location.hash && current.id && newChat());
document.addEventListener("keydown", (e) => {
  if (e.key !== "Escape") return;
  if (drawer.isOpen()) drawer.close();
  else if (page.cards.canvases.over()) page.cards.canvases.close();
  else current.stop();
});
setUpTheme();
draw();
show();
list();
meet();
watch();
