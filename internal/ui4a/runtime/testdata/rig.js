// The page of the tests: one surface, and everything that its card has said.
import { openSurface } from "/ui4a/host/surface.js";

const rig = (window.rig = { state: {}, actions: [], secrets: [], troubles: [], painted: [], stopped: [], ticks: 0 });
setInterval(() => rig.ticks++, 100);

rig.open = (options = {}) => {
  rig.surface?.close();
  rig.surface = openSurface(document.querySelector("#place"), {
    surface: "canvas/test",
    capabilities: ["calendar.add"],
    onAction: async (action, secrets) => {
      rig.actions.push(action);
      rig.secrets.push(secrets);
      return { outcome: "sent", message: "", saw: JSON.stringify(action.state) };
    },
    onState: (key, value) => (rig.state[key] = value),
    onTrouble: (t) => rig.troubles.push(t),
    onPainted: (revision) => rig.painted.push(revision),
    onStop: (reason) => rig.stopped.push(reason),
    ...options,
  });
};
rig.keys = (names) => Object.fromEntries(names.map((n) => [n, { noai: n.startsWith("secret") }]));
