// One conversation: its tree of turns and the answer that is being written. It goes
// on in the background when the page shows another one.

import * as api from "./api.js";
import { Tree, historyOf } from "./tree.js";

let requests = 0;
const start = Date.now().toString(36);

export class Conversation {
  /** changed(turn|null, what) is called after every change; what is "text" for a piece of an answer. */
  constructor(id, changed) {
    this.id = id; // "" until the server has given one
    this.title = "";
    this.tree = new Tree();
    this.run = null; // {turn, stop} while an answer is being written
    this.judging = Promise.resolve(); // ends when the judgements so far are recorded
    this.changed = changed;
  }

  async load() {
    const view = await api.session(this.id);
    this.title = view.title;
    this.tree.merge(view.tree);
    this.changed(null, "all");
  }

  /** Reads the stored state again; that it fails is not worth a message. */
  async refresh() {
    if (!this.id) return;
    try {
      await this.load();
    } catch {
      return; // the page still shows what it saw itself
    }
    this.follow();
  }

  /** Looks again later while the server has yet to close a turn or to write a summary that is shown. */
  follow() {
    const awaited = (t) => t.id && (t.status === "open" || t.local || (t.explained && t.status === "delivered" && !t.summary));
    if (this.run || !this.tree.turns.some(awaited)) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), 1500);
  }

  /** Asks with a text after the shown turns; request names it in the log, if given. */
  ask(text, force, request) {
    const path = this.tree.path();
    return this.send(path, [{ role: "user", content: text }], force, request);
  }

  /** Asks the same again: a sibling of the turn. */
  again(turn, force) {
    return this.send(this.tree.before(turn), turn.said, force);
  }

  /** Asks with another text in the place of the turn's last message: a sibling too. */
  edit(turn, text, force) {
    const said = [...turn.said.slice(0, -1), { role: "user", content: text }];
    return this.send(this.tree.before(turn), said, force);
  }

  stop() {
    this.run?.stop.abort();
  }

  async send(before, said, force, request) {
    if (this.run) return;
    const turn = this.open(before, said, force, request);
    const stop = new AbortController();
    this.run = { turn, stop };
    this.changed(turn, "new");
    try {
      await this.stream(turn, [...historyOf(before), ...said], stop.signal);
    } catch (cause) {
      turn.status = "interrupted";
      if (cause.name !== "AbortError") turn.failure = { message: cause.message, next: cause.next || "" };
    }
    turn.running = false;
    this.run = null;
    this.changed(turn, "end");
    await this.refresh();
  }

  open(before, said, force, given) {
    const request = given || `page-${start}-${++requests}-${Math.random().toString(36).slice(2, 8)}`;
    const turn = {
      key: request, request, id: "", local: true, running: true, fresh: true, typed: !given, status: "open", under: before.at(-1)?.key || "",
      said, messages: said, trace: [], partial: "", hops: [], feedback: 0, forced: force, probabilities: null,
    };
    this.tree.add(turn);
    if (!this.title) this.title = said.at(-1).content.slice(0, 80);
    return turn;
  }

  async stream(turn, messages, signal) {
    const { macaron, finish } = await api.answer({
      model: turn.forced ? "macaron/" + turn.forced : "macaron",
      messages, session: this.id, request: turn.request, signal,
      onHead: (head) => this.head(turn, head),
      onText: (piece) => {
        turn.partial += piece;
        this.changed(turn, "text");
      },
    });
    turn.trace = [{ role: "assistant", content: turn.partial }];
    turn.status = finish === "tool_calls" ? "awaiting_tools" : "delivered";
    turn.partial = "";
    turn.finish = finish;
    if (macaron) Object.assign(turn, { adapter: macaron.adapter, revision: macaron.revision, reason: macaron.reason, contract: macaron.contract, hops: macaron.hops || [], probabilities: macaron.probabilities });
  }

  head(turn, head) {
    const first = !this.id && head.session;
    if (head.session) this.id = head.session;
    Object.assign(turn, { id: head.turn, adapter: head.adapter, revision: head.revision, reason: head.reason, probability: head.probability });
    this.changed(turn, first ? "named" : "head");
  }

  /** Keeps a judgement; the turn shows it at once and goes back if it could not be kept. */
  async judge(turn, score, reason = "") {
    const old = turn.feedback;
    turn.feedback = turn.judged = score; // judged: what the server tells may be older
    this.changed(turn, "feedback");
    const kept = this.judging.then(() => api.feedback(turn.id, score, reason)); // the last one is recorded last
    this.judging = kept.catch(() => {});
    try {
      await kept;
    } catch (cause) {
      turn.feedback = turn.judged = old;
      this.changed(turn, "feedback");
      throw cause;
    }
  }
}
