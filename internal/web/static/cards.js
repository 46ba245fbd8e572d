// The cards of a conversation: which answers have some, the surfaces that show them, and
// what becomes of what the person does there. What a card is, and what of it a model may
// see, is decided by the server; a surface is host/surface.js's.

import * as api from "./api.js";
import { h } from "./dom.js";
import { CanvasPanel, canvasName } from "./canvas.js";
import { answerOf } from "./tree.js";
import { openSurface } from "/ui4a/host/surface.js";

const begins = /^ {0,3}`{3,}\s*(ui4a|tsx|jsx)/im;
const settle = 600; // milliseconds in which further changes and errors join the first

const hasCards = (turn) => begins.test(answerOf(turn));

export class Cards {
  /**
   * page: {turn(id), busy(), ask(text, request, force), changed(turn), kept(), old()} of the shown
   * conversation; kept: something was written of a card; old: another tab or page has written.
   */
  constructor(page) {
    this.page = page;
    this.lost = false; // whether the server could not tell of them
    this.talk = {}; // another one for each conversation that is shown
    this.blocks = new Map(); // id of a turn -> its answer, cut at its cards
    this.known = new Map(); // surface -> the card as the server knows it
    this.pictures = new Map(); // turn and name -> promise of a data: address
    this.shown = new Map(); // surface -> {host, place, turn, told, found, values, touched, timer}
    this.synced = ""; // the delivered turn up to which the cards are known
    this.wanted = ""; // what was asked for last
    this.canvases = new CanvasPanel({ source: (name) => this.known.get(name)?.source ?? "", shown: (name) => this.show(name) });
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const themed = () => this.shown.forEach((s) => s.host.setTheme(theme()));
    dark.addEventListener("change", themed);
    new MutationObserver(themed).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    addEventListener("pagehide", () => this.shown.forEach((s, name) => this.flush(name, true)));
  }

  /** Forgets everything, for another conversation. */
  clear() {
    this.talk = {};
    for (const name of [...this.shown.keys()]) this.close(name);
    this.forget();
    this.lost = false;
    this.pictures.clear();
    this.canvases.clear();
  }

  /** Forgets the cards of turns that are shown no more. */
  forget() {
    this.blocks.clear();
    this.known.clear();
    this.synced = this.wanted = "";
    this.drawn();
  }

  /**
   * Reads the cards of the shown turns, once for each turn that they end with. An answer
   * that was stopped stands in no later turn's history: it is asked for by itself.
   */
  async sync(path) {
    const tip = path.findLast((t) => t.id && t.status === "delivered");
    const stopped = path.filter((t) => t.id && !t.local && t.status === "interrupted" && hasCards(t));
    const wanted = [tip, ...stopped].map((t) => t?.id ?? "").join(" ");
    if (!path.some(hasCards)) return this.known.size && this.forget();
    if (wanted === this.wanted) return;
    this.wanted = wanted;
    const fresh = tip?.fresh && tip.id !== this.synced;
    const began = performance.now();
    try {
      const [all, ...cut] = await Promise.all([tip ? api.cards(tip.id) : { cards: [], answers: [] }, ...stopped.map((t) => api.cards(t.id))]);
      if (this.wanted !== wanted) return;
      for (const name of this.shown.keys()) this.flush(name); // to where it belongs
      this.synced = tip?.id ?? "";
      this.blocks.clear();
      this.known.clear();
      this.take(all);
      this.renewed(began);
      stopped.forEach((t, i) => this.take(this.unfinished(cut[i], t.id)));
    } catch {
      this.lost = true; // the text is shown instead
    }
    this.page.changed(tip ?? stopped[0]);
    this.offer(fresh ? tip : null);
    if (fresh) this.judge(tip);
    for (const name of this.known.keys()) this.flush(name);
  }

  /** Follows an answer that is being written: one question at a time, with all that has come. */
  async follow(turn, after) {
    if (this.asking || !turn.id) return;
    this.asking = true;
    const { talk } = this;
    turn.began ??= performance.now();
    try {
      for (let answer = ""; turn.running && turn.partial !== answer; ) {
        answer = turn.partial;
        const all = await api.cardFrames({ after, turn: turn.id, request: turn.request, answer, final: false });
        if (!turn.running || talk !== this.talk) break; // too late: the whole cards are there, or another conversation is
        for (const c of all.cards) c.draft = true;
        this.take(all);
        if (turn.running) this.page.changed(turn);
        this.offer(turn);
      }
    } catch {
      // the text goes on; the cards are read at its end
    }
    this.asking = false;
  }

  /** Opens the canvases of an answer that is new here; of a conversation that was opened, the last one. */
  offer(turn) {
    const last = this.keepCanvases().at(-1);
    if (!turn && last) this.canvases.offer(last, "opened");
    this.canvases.taken.add("opened");
    for (const b of (turn && this.blocks.get(turn.id)) ?? []) if (b.surface && canvasName(b.surface)) this.canvases.offer(b.surface, `${turn.id} ${b.surface}`);
  }

  keepCanvases() {
    const names = [...this.known.keys()].filter(canvasName);
    this.canvases.keep(names);
    return names;
  }

  /** Reads again what another tab may have made of the cards, and shows it. */
  async renew() {
    const tip = this.synced;
    if (!tip || this.page.busy()) return;
    const began = performance.now();
    const { cards } = await api.cards(tip).catch(() => ({ cards: [] })); // then it stays as it was
    if (tip !== this.synced) return;
    for (const c of cards) {
      const known = this.known.get(c.surface);
      if (known && !known.draft && known.revision === c.revision) Object.assign(known, { state: c.state, sequence: c.sequence, outcome: c.outcome });
    }
    this.renewed(began);
  }

  /** Gives the surfaces what the server knew at a time, but for what was changed here since. */
  renewed(began) {
    for (const [name, s] of this.shown) {
      const card = this.known.get(name);
      if (!card || card.draft || card.turn !== s.turn) continue;
      const here = (key) => s.touched.get(key) > began;
      for (const key of s.touched.keys()) if (here(key)) card.state[key] = s.host.state.get(key);
      s.host.renew(Object.fromEntries(Object.entries(card.state).filter(([key]) => !here(key))), card.sequence);
      this.show(name);
    }
  }

  take({ cards, answers }) {
    for (const a of answers) this.blocks.set(a.turn, a.blocks);
    for (const c of cards) {
      const old = this.known.get(c.surface);
      if (!c.script && c.draft && old) continue; // the last good frame stays
      if (old) c.state = { ...c.state, ...old.state };
      this.known.set(c.surface, c);
      this.show(c.surface);
    }
  }

  /** What a stopped answer brought itself: shown, and sent nowhere. */
  unfinished({ cards, answers }, turn) {
    const own = cards.filter((c) => c.turn === turn && !this.known.has(c.surface));
    for (const c of own) c.draft = c.unfinished = true;
    return { cards: own, answers: answers.filter((a) => a.turn === turn) };
  }

  /** Fills the body of an answer; text fills an element with a text. */
  answer(body, turn, text) {
    const said = answerOf(turn);
    if (this.blocks.has(turn.id)) this.fill(body, turn, text);
    else if (hasCards(turn) && (turn.running || (turn.status !== "open" && !this.lost))) text(body, said.slice(0, said.search(begins)));
    else text(body, said);
  }

  /** Cuts an answer at its cards, keeping the places of cards that are there: a frame that is moved begins anew. */
  fill(body, turn, text) {
    const blocks = this.blocks.get(turn.id);
    const own = new Map([...body.children].filter((c) => c.dataset.surface).map((c) => [c.dataset.surface, c]));
    for (const child of [...body.childNodes]) if (!own.has(child.dataset?.surface)) child.remove();
    let last = null;
    const put = (el) => {
      if (el.parentNode !== body) body.insertBefore(el, last ? last.nextSibling : body.firstChild);
      last = el;
    };
    for (const b of blocks) {
      if (!b.surface) {
        const box = h("div");
        text(box, b.text);
        for (const el of [...box.childNodes]) put(el);
      } else if (canvasName(b.surface)) put(this.canvases.note(b.surface, b.changes));
      else if (b.changes) put(this.note(b.surface));
      else put(own.get(b.surface) ?? h("div", { class: "card", data: { surface: b.surface } }, h("div", { class: "place" }), h("p", { class: "card-note muted", role: "status" })));
    }
  }

  note(surface) {
    const go = () => document.querySelector(`[data-surface="${CSS.escape(surface)}"]`)?.scrollIntoView({ block: "center" });
    return h("p", { class: "muted" }, "Changed the card above. ", h("button", { type: "button", class: "plain", on: { click: go } }, "Show it"));
  }

  /** Opens the surfaces whose places are drawn, and closes those that are drawn no more. */
  drawn() {
    this.keepCanvases();
    for (const [name, s] of this.shown) if (!s.place.isConnected || s.turn !== this.known.get(name)?.turn) this.close(name);
    for (const name of this.known.keys()) this.show(name);
  }

  close(name) {
    this.flush(name);
    this.shown.get(name)?.host.close();
    this.shown.delete(name);
  }

  show(name) {
    const card = this.known.get(name);
    const el = document.querySelector(`[data-surface="${CSS.escape(name)}"]`);
    if (!el) return;
    el.querySelector(".card-note").textContent = noteOf(card);
    if (!card.script) return;
    let s = this.shown.get(name);
    if (!s) this.shown.set(name, (s = this.open(name, card, el.querySelector(".place"))));
    this.illustrate(name, card, s);
    if (s.script === card.script) return;
    s.script = card.script;
    clearTimeout(s.failing); // what was told of the card before is not of this one
    s.told = [];
    s.found = [];
    s.host.show(card);
  }

  open(name, card, place) {
    const s = { place, turn: card.turn, told: [], found: [], values: new Map(), touched: new Map(), drawn: "" };
    s.host = openSurface(place, {
      surface: name,
      title: canvasName(name) ? `Canvas ${canvasName(name)}` : "Card",
      theme: theme(),
      state: card.state,
      sequence: card.sequence,
      onAction: (action, secrets) => this.act(name, action, secrets),
      onState: (key, value) => this.keep(name, key, value),
      onTrouble: (t) => this.trouble(name, t.revision, "told", t.model),
      onFinding: ({ revision, ...finding }) => this.trouble(name, revision, "found", finding),
      onStop: (reason) => this.trouble(name, this.known.get(name)?.revision, "told", `the card was stopped: ${reason}`),
      onPainted: (revision) => this.painted(name, revision),
    });
    return s;
  }

  /** Hands a card the pictures that it names, as the conversation has them at the turn that made it what it is. */
  async illustrate(name, card, s) {
    const turn = card.edited || card.turn;
    const wanted = (card.pictures ?? []).map((p) => `${turn} ${p}`);
    if (!wanted.length || s.wanted === wanted.join()) return;
    s.wanted = wanted.join();
    const read = (key, p) => this.pictures.get(key) ?? this.pictures.set(key, api.picture(turn, p).catch(() => "")).get(key);
    const data = await Promise.all(card.pictures.map((p, i) => read(wanted[i], p)));
    if (this.shown.get(name) === s && s.wanted === wanted.join()) s.host.setPictures(Object.fromEntries(card.pictures.map((p, i) => [p, data[i]]).filter(([, d]) => d)));
  }

  /** The turn whose answer made the card what it is. */
  turnOf(name) {
    const card = this.known.get(name);
    return this.page.turn(card?.edited || card?.turn);
  }

  /** Whether a revision is the whole card of an answer that has ended. */
  final(name, revision) {
    const card = this.known.get(name);
    return card && !card.draft && card.revision === revision && this.synced;
  }

  event(name, event, more = {}, options = {}) {
    const card = this.known.get(name);
    const secrets = this.shown.get(name)?.host.secretValues() ?? { held: {}, sealed: {} };
    return api.cardEvent(this.synced, { event, surface: name, revision: card.revision, secrets, ...more }, options).catch((cause) => {
      if (cause.code === "gone") this.page.old();
      return {}; // what could not be kept is not worth a message
    });
  }

  painted(name, revision) {
    const s = this.shown.get(name);
    const turn = this.turnOf(name);
    if (turn?.running) turn.painted ??= performance.now();
    if (s) s.drawn = revision;
    if (this.final(name, revision)) this.tellDrawn(name);
  }

  tellDrawn(name) {
    const s = this.shown.get(name);
    const revision = this.known.get(name)?.revision;
    if (!s || s.drawn !== revision || s.toldDrawn === revision) return;
    s.toldDrawn = revision;
    const turn = this.turnOf(name);
    this.event(name, "drawn", { paint_ms: turn?.painted ? Math.round(turn.painted - turn.began) : 0 });
  }

  async act(name, action, secrets) {
    if (this.page.busy()) return { outcome: "refused", reason: "busy", message: "An answer is being written; nothing was sent. Try again when it is there.", saw: "" };
    if (!this.final(name, action.origin.revision)) return { outcome: "refused", reason: "stale", message: "The card is not whole; nothing was sent.", saw: "" };
    await this.flush(name);
    const receipt = await api.cardAction(this.synced, { action, secrets });
    if (receipt.outcome === "sent") {
      this.known.get(name).outcome = "completed";
      this.page.ask(receipt.saw, action.id);
    }
    if (receipt.reason === "replayed" || receipt.reason === "stale") {
      this.page.old();
      return { ...receipt, message: "The card was used or changed somewhere else; nothing was sent. It shows that now: try again." };
    }
    this.page.kept();
    return receipt;
  }

  keep(name, key, value) {
    const s = this.shown.get(name);
    s.values.set(key, value);
    s.touched.set(key, Infinity); // until the server has it
    this.known.get(name).state[key] = value;
    clearTimeout(s.timer);
    s.timer = setTimeout(() => this.flush(name), settle);
  }

  /** Sends changed state to be kept. */
  async flush(name, leaving = false) {
    const s = this.shown.get(name);
    const card = this.known.get(name);
    if (!s?.values.size || card?.turn !== s.turn || !this.final(name, card.revision)) return;
    clearTimeout(s.timer);
    const values = Object.fromEntries(s.values);
    s.values.clear();
    await this.event(name, "state", { values }, { keepalive: leaving });
    for (const key of Object.keys(values)) if (!s.values.has(key)) s.touched.set(key, performance.now());
    this.page.kept();
  }

  trouble(name, revision, list, what) {
    const s = this.shown.get(name);
    if (!s || !this.turnOf(name)?.fresh || this.known.get(name)?.revision !== revision) return;
    s[list].push(what);
    clearTimeout(s.failing);
    s.failing = setTimeout(() => this.failed(name), settle);
  }

  /** After an answer has ended: what is drawn is told, what was left, and what does not compile. */
  judge(turn) {
    if (turn.typed) this.leave(turn);
    for (const b of this.blocks.get(turn.id) ?? []) {
      if (!b.surface) continue;
      const card = this.known.get(b.surface);
      this.tellDrawn(b.surface);
      const s = this.shown.get(b.surface);
      if (card?.broken || s?.told.length || s?.found.length) this.failed(b.surface);
    }
  }

  /** A card of a fresh answer does not work: the server counts, and says whether it is repaired. */
  async failed(name) {
    const card = this.known.get(name);
    const s = this.shown.get(name);
    if (!card || !this.final(name, card.revision) || card.outcome === "errored") return;
    card.outcome = "errored";
    const { repair } = await this.event(name, "failed", { errors: s?.told.splice(0).slice(0, 20) ?? [], findings: s?.found.splice(0) ?? [] });
    if (repair) card.round = repair.round;
    this.show(name);
    if (repair && !this.page.busy()) this.page.ask(repair.text, repair.request, this.turnOf(name)?.adapter);
  }

  /** The person went on by writing: cards that were neither used nor changed by the answer are left. A canvas stays beside it. */
  leave(turn) {
    for (const [name, card] of this.known) {
      if (canvasName(name) || card.draft || card.outcome || this.turnOf(name) === turn) continue;
      card.outcome = "abandoned";
      this.event(name, "left");
    }
  }
}

function noteOf(card) {
  const errors = (card.findings ?? []).filter((f) => f.severity === "error");
  const rounds = card.round === 1 ? "1 repair" : `${card.round} repairs`;
  if (card.unfinished) return card.open ? "This card is unfinished: its answer was stopped." : "Its answer was stopped: what is done here is not sent.";
  if (card.draft) return "";
  if (card.outcome === "errored" || errors.length) {
    const what = errors.length ? `This card has errors: ${errors[0].message}.` : "This card failed.";
    return card.round ? `${what} ${rounds} asked for.` : what;
  }
  return card.round ? `Works after ${rounds}.` : "";
}

function theme() {
  const chosen = document.documentElement.dataset.theme;
  return { scheme: chosen || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light") };
}
