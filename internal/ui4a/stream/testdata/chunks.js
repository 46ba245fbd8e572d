// The page of the test: a surface at a time, and what its card has said.
import { openSurface } from "/ui4a/host/surface.js";

const page = (window.chunks = { painted: [], stopped: [], troubles: [] });
let surface;

page.open = () => {
  surface?.close();
  page.painted.length = 0;
  surface = openSurface(document.querySelector("#place"), {
    surface: "canvas/test",
    onAction: async () => ({ outcome: "kept", message: "" }),
    onState: () => {},
    onTrouble: (t) => page.troubles.push(t),
    onPainted: (revision) => page.painted.push(revision),
    onStop: (reason) => page.stopped.push(reason),
  });
};
page.show = (card) => surface.show({ ...card, keys: {} });
