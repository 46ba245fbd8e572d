// One surface at a time; what the stream brings is shown on it.
import { openSurface } from "/ui4a/host/surface.js";

window.bench = {
  open() {
    window.bench.surface?.close();
    window.bench.surface = openSurface(document.querySelector("#place"), { surface: "inline/bench/1" });
  },
};
new EventSource("/stream").onmessage = (e) => window.bench.surface.show(JSON.parse(e.data));
