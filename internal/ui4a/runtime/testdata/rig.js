// The page of the tests: one surface, and everything that its card has said.
import { openSurface } from "/ui4a/host/surface.js";

const rig = (window.rig = { state: {}, actions: [], secrets: [], troubles: [], painted: [], stopped: [], surfaces: [], ticks: 0 });
setInterval(() => rig.ticks++, 100);

rig.close = () => {
  for (const s of rig.surfaces.splice(0)) s.close();
};
rig.open = (options = {}) => {
  rig.close();
  rig.add(options);
};
rig.add = (options = {}) => {
  rig.surface = openSurface(document.querySelector("#place"), {
    surface: "canvas/test",
    capabilities: ["calendar.add"],
    onAction: async (action, secrets) => {
      rig.actions.push(action);
      rig.secrets.push(secrets);
      return { outcome: "sent", message: "", saw: JSON.stringify(action.state) };
    },
    onState: (key, value) => (rig.state[key] = key === "ran" ? { ...rig.state.ran, ...value } : value),
    onTrouble: (t) => rig.troubles.push(t),
    onPainted: (revision) => rig.painted.push(revision),
    onStop: (reason) => rig.stopped.push(reason),
    ...options,
  });
  rig.surfaces.push(rig.surface);
};
rig.keys = (names) => Object.fromEntries(names.map((n) => [n, { noai: n.startsWith("secret") }]));
