// The turns of one conversation as a tree: edits and second tries are siblings, and
// the page shows one path through it. No DOM here.

/** The text of a message in the form of the chat API. */
export function textOf(message) {
  if (typeof message.content === "string") return message.content;
  return (message.content || []).filter((p) => p.type === "text").map((p) => p.text).join("\n");
}

const same = (a, b) => a.role === b.role && textOf(a) === textOf(b);

export class Tree {
  constructor() {
    this.turns = []; // oldest first
    this.chosen = new Map(); // key of a parent -> key of the child that is shown
  }

  /**
   * Takes over what the server tells of the turns. A turn that is known by its id, or
   * by the request that made it, keeps its key and what only the page knows of it.
   */
  merge(stored) {
    for (const t of stored) {
      const known = this.turns.find((k) => (k.id ? k.id === t.id : k.request && k.request === t.request));
      if (!known) this.turns.push({ key: t.id, ...t });
      else if (!behind(t, known)) Object.assign(known, t, { local: false, feedback: known.judged ?? t.feedback });
    }
    this.arrange();
  }

  add(turn) {
    this.turns.push(turn);
    this.arrange();
    this.choose(turn);
  }

  /** Shows the path through a turn. */
  choose(turn) {
    for (let t = turn; t; t = this.byKey(t.under)) this.chosen.set(t.under, t.key);
  }

  byKey(key) {
    return this.turns.find((t) => t.key === key);
  }

  children(key) {
    return this.turns.filter((t) => t.under === key);
  }

  siblings(turn) {
    return this.children(turn.under);
  }

  /** The turns shown, from the first; at each fork the chosen one, else the newest. */
  path() {
    const out = [];
    for (let key = ""; ; ) {
      const options = this.children(key);
      if (!options.length) return out;
      const turn = options.find((t) => t.key === this.chosen.get(key)) || options[options.length - 1];
      out.push(turn);
      key = turn.key;
    }
  }

  /** The shown turns before this one. */
  before(turn) {
    const out = [];
    for (let t = this.byKey(turn.under); t; t = this.byKey(t.under)) out.unshift(t);
    return out;
  }

  /**
   * Gives each turn its place: "under" is the key of the turn that it is shown after,
   * "said" the messages shown for it. The log hangs a turn after a delivered one; an
   * interrupted answer that the person went on from comes in between here.
   */
  arrange() {
    const byId = new Map(this.turns.filter((t) => t.id).map((t) => [t.id, t]));
    const placed = [];
    for (const turn of this.turns) {
      if (turn.local) {
        placed.push(turn);
        continue;
      }
      turn.under = byId.get(turn.parent)?.key || "";
      turn.said = [...(turn.imported || []), ...turn.messages];
      for (let cut; (cut = placed.find((t) => goesOnFrom(turn, t))); ) {
        turn.said = turn.said.slice(spoken(cut).length);
        turn.under = cut.key;
      }
      placed.push(turn);
    }
  }
}

/** Whether the page knows a turn better: the server told before the turn had ended. */
function behind(stored, known) {
  return known.running || (stored.status === "open" && known.status !== "open");
}

function goesOnFrom(turn, cut) {
  if (cut.under !== turn.under || cut.status !== "interrupted") return false;
  const shared = spoken(cut);
  return shared.length < turn.said.length && shared.every((m, i) => same(m, turn.said[i]));
}

/** What the person saw of a turn, as messages to send. */
export function spoken(turn) {
  if (turn.status === "delivered") return [...turn.said, ...turn.trace];
  return turn.partial ? [...turn.said, { role: "assistant", content: turn.partial }] : turn.said;
}

/** The whole history after these turns, with the system text that the last one had. */
export function historyOf(turns) {
  return [...(turns.at(-1)?.system || []), ...turns.flatMap(spoken)];
}

/** The text of a turn's answer, finished or not. */
export function answerOf(turn) {
  const said = turn.trace.filter((m) => m.role === "assistant").map(textOf).filter(Boolean);
  return said.join("\n\n") || turn.partial || "";
}
