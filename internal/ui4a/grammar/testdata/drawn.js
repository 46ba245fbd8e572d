// The page of the test: one surface after the other, and what its card has said.
import { openSurface } from "/ui4a/host/surface.js";

const page = (window.page = { painted: [], troubles: [] });
let surface;

// draw shows a card and is done when it has been painted, or has failed, and effects have run.
page.draw = async (card) => {
  surface?.close();
  page.painted = [];
  page.troubles = [];
  surface = openSurface(document.querySelector("#place"), {
    surface: "canvas/test",
    onAction: async () => ({ outcome: "kept", message: "" }),
    onState: () => {},
    onTrouble: (t) => page.troubles.push(t.kind + ": " + t.model),
    onPainted: (revision) => page.painted.push(revision),
    onStop: (reason) => page.troubles.push("stopped: " + reason),
  });
  surface.show(card);
  while (!page.painted.includes(card.revision) && page.troubles.length === 0) await new Promise((done) => setTimeout(done, 5));
  await new Promise((done) => setTimeout(done, 50));
  return true;
};
