// The page of `macaron ui4a serve`: the card as it changes, and what is to be said of it.
import { openSurface } from "/ui4a/host/surface.js";

const wanted = new URLSearchParams(location.search);
const scheme = wanted.get("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
document.documentElement.dataset.theme = scheme;
if (wanted.has("shot")) document.documentElement.dataset.shot = "";

// For who drives the page: whether the card is there, its Actions, its state, and again(),
// which shows it as it was at first.
const shown = (window.shown = { painted: "", failed: "", actions: [] });

const add = (list, text) => {
  const item = document.createElement("li");
  item.textContent = text;
  document.querySelector(list).append(item);
};

const surface = openSurface(document.querySelector("#place"), {
  surface: "canvas/card",
  theme: { scheme },
  async onAction(action, secrets) {
    shown.actions.push(action);
    const answer = await fetch("/action", { method: "POST", body: JSON.stringify({ action, secrets }) });
    if (!answer.ok) throw new Error(await answer.text());
    const receipt = await answer.json();
    add("#receipts", `${receipt.outcome}: ${action.name ?? action.text}\n${receipt.saw || receipt.message}`);
    return receipt;
  },
  onTrouble: (t) => {
    add("#troubles", `${t.kind}: ${t.model}`);
    if (t.kind === "error") shown.failed = t.model;
  },
  onPainted: (revision) => (shown.painted = revision),
});

shown.state = () => Object.fromEntries(surface.state);
shown.secret = () => surface.secrets.held.size + surface.secrets.sealed.size > 0;
shown.again = () => {
  Object.assign(shown, { painted: "", failed: "", actions: [] });
  surface.state = new Map();
  surface.secrets = { held: new Map(), sealed: new Map() };
  surface.start();
};

new EventSource("/changes").onmessage = (e) => {
  const card = JSON.parse(e.data);
  document.querySelector("#findings").replaceChildren();
  for (const f of card.findings ?? []) add("#findings", `${f.line}:${f.column}: ${f.severity}: ${f.message} [${f.code}]; ${f.fix}`);
  if (card.script) surface.show(card);
  else shown.failed = "the card does not compile";
};

const frame = await fetch("/ui4a/frame");
for (const name of ["content-security-policy", "permissions-policy", "connection-allowlist"]) {
  document.querySelector("#policy").textContent += `${name}: ${frame.headers.get(name)}\n`;
}
