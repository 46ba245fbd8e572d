// The page of the bench: one surface after another, and everything that leaves it.
import { openSurface } from "/ui4a/host/surface.js";

const bench = (window.bench = {});
const place = document.querySelector("#place");
const patience = 15000;

/** Puts an empty surface on the page. */
bench.open = (surface) => {
  bench.surface?.close();
  Object.assign(bench, { painted: [], troubles: [], sent: [], stopped: "", states: 0, shownAt: 0, paintMS: 0 });
  const sent = bench.sent;
  bench.surface = openSurface(place, {
    surface,
    theme: { scheme: "light" },
    onAction: async (action, secrets) => {
      const answer = await fetch("/act", { method: "POST", body: JSON.stringify({ surface, action, secrets }) });
      return await answer.json();
    },
    onState: () => bench.states++,
    onTrouble: (t) => bench.troubles.push({ kind: t.kind, model: t.model }),
    onPainted: (revision) => {
      bench.paintMS ||= performance.now() - bench.shownAt;
      bench.painted.push(revision);
    },
    onStop: (reason) => (bench.stopped = reason),
  });
  // The bench's own eyes work in the frame, too, and the machine may be busy: a card is
  // given more time to answer than elsewhere.
  const stop = bench.surface.stop.bind(bench.surface);
  bench.surface.stop = (reason, why) => {
    const dog = bench.surface.watchdog;
    if (reason !== "unresponsive" || !dog || performance.now() - dog.heard > patience) stop(reason, why);
  };
  // Every answer to a wish of the card is kept, also where the page itself refused it.
  const answer = bench.surface.answer.bind(bench.surface);
  bench.surface.answer = (n, receipt) => {
    sent.push({ name: receipt.name ?? "", saw: receipt.saw ?? "", outcome: receipt.outcome, reason: receipt.reason ?? "", valid: receipt.valid ?? receipt.reason !== "invalid" });
    answer(n, receipt);
  };
};

/** Shows a compiled card. */
bench.show = (card) => {
  bench.shownAt = performance.now();
  bench.surface.show(card);
};

/** What has left the card: Actions and sealed values, and the values of its state. */
bench.count = () => [bench.sent.length + bench.surface.secrets.sealed.size, bench.states];
bench.frame = () => {
  const r = place.querySelector("iframe")?.getBoundingClientRect();
  return r ? [r.x, r.y, r.width, r.height] : [];
};
bench.ready = true;
