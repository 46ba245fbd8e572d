// The page of the test: a card that comes in pieces and the same card at once, side by
// side, each on a surface of its own.
import { openSurface } from "/ui4a/host/surface.js";

const page = (window.chunks = { stopped: [] });
const place = document.querySelector("#place");
const patience = 20000; // milliseconds, for what must come
const moment = 2000; // for a frame that draws nothing, since what it is closed to throws
let open = [];

/** Opens a surface and waits until its card can be shown. */
async function surface(name) {
  const s = { painted: [], errors: [], wake: () => {} };
  s.at = openSurface(place, {
    surface: "canvas/" + name,
    onAction: async () => ({ outcome: "kept", message: "" }),
    onTrouble: (t) => t.kind === "error" && s.errors.push(t.model),
    onPainted: (revision) => s.wake(s.painted.push(revision)),
    onStop: (reason) => page.stopped.push(name + ": " + reason),
  });
  open.push(s.at);
  await new Promise((loaded) => s.at.frame.addEventListener("load", loaded, { once: true }));
  return s;
}

/** Shows a card; with ms, waits so long at most until something is painted. */
function show(s, card, ms) {
  return new Promise((done) => {
    if (ms) s.wake = () => done(clearTimeout(late));
    const late = setTimeout(done, ms);
    s.at.show({ ...card, source: "the source", keys: {} });
  });
}

async function stream(frames, whole) {
  const s = await surface("stream");
  for (const f of frames) await show(s, f, f.wait ? moment : 0);
  const between = new Set(s.painted).size;
  await show(s, whole, patience);
  return { between, errors: s.errors };
}

async function once(whole) {
  const s = await surface("once");
  await show(s, whole, patience);
  return { errors: s.errors };
}

/** Shows the frames of a card and, beside it, the whole card. */
page.play = async (frames, whole) => {
  for (const s of open) s.close();
  open = [];
  const [streamed, at] = await Promise.all([stream(frames, whole), once(whole)]);
  return { between: streamed.between, streamed: streamed.errors, once: at.errors };
};
