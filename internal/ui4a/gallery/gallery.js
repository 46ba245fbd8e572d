// Puts each card of the gallery on a surface of its own when it comes near the view.
import { openSurface } from "/ui4a/host/surface.js";
import { setUpDrawer, setUpTheme } from "/assets/shell.js";

const drawer = setUpDrawer();
setUpTheme();
const dark = matchMedia("(prefers-color-scheme: dark)");
const theme = () => ({ scheme: document.documentElement.dataset.theme || (dark.matches ? "dark" : "light") });
const surfaces = new Set();
const cards = new Map(JSON.parse(document.querySelector("#cards").textContent).map((c) => [c.name, c]));

function open(section) {
  const card = cards.get(section.id);
  const surface = openSurface(section.querySelector(".place"), {
    surface: `gallery/${card.name}`,
    title: `Card: ${card.name}`,
    theme: theme(),
    // Nobody answers here: an Action is shown as it would be sent.
    onAction: async (action) => ({ outcome: "kept", message: `${action.kind} from ${card.name}`, saw: "" }),
  });
  surface.show(card);
  surfaces.add(surface);
}

const near = new IntersectionObserver(
  (entries) => {
    for (const e of entries) {
      if (!e.isIntersecting) continue;
      near.unobserve(e.target);
      open(e.target);
    }
  },
  { rootMargin: "200px" },
);
for (const section of document.querySelectorAll("section[id]")) near.observe(section);
const themed = () => surfaces.forEach((s) => s.setTheme(theme()));
dark.addEventListener("change", themed);
new MutationObserver(themed).observe(document.documentElement, { attributeFilter: ["data-theme"] });
document.getElementById("sessions").addEventListener("click", () => drawer.close());
