// The view of a card in a host that speaks MCP Apps: a surface whose Actions become messages
// of the conversation. What is lost here stands in docs/formats/ui4a-hosts.md.
import { Host } from "./rpc.js";
import { judge } from "./judge.js";
import { openSurface } from "./surface.js";

const place = document.querySelector("#place");
let surface;
let context = {};
let capabilities = {};
const troubles = [];

const host = new Host({
  "ui/notifications/tool-result": (r) => (r._meta?.["macaron/card"]?.script ? show(r._meta["macaron/card"]) : say("There is no card to show: it has errors, of which the model was told, or this host keeps cards from its views.")),
  "ui/notifications/tool-cancelled": () => surface || say("The card was not finished."),
  "ui/notifications/host-context-changed": (c) => {
    context = { ...context, ...c };
    surface?.setTheme(theme());
  },
  "ui/resource-teardown": () => surface?.close(),
  ping: () => {},
});

/** Light or dark; the host's own colours are not taken, since cards' contrast is tested with theirs. */
function theme() {
  const scheme = context.theme === "dark" ? "dark" : "light";
  document.documentElement.style.colorScheme = scheme;
  return { scheme };
}

function say(text) {
  const p = document.createElement("p");
  p.className = "ui4a-notices";
  p.textContent = text;
  place.replaceChildren(p);
}

function show(card) {
  if (!surface) {
    place.replaceChildren();
    surface = openSurface(place, {
      surface: `tool/${context.toolInfo?.id ?? card.revision.slice(-12)}`,
      document: document.querySelector("#frame").content.textContent,
      theme: theme(),
      onAction: act,
      onTrouble: ({ model }) => tell(model),
    });
  }
  surface.show(card);
}

/** Sends what a model may see of an Action, as a message of the person. */
async function act(action, secrets) {
  const receipt = judge(action, surface.card, secrets);
  if (!receipt.saw) return receipt;
  const answer = await host.call("ui/message", { role: "user", content: [{ type: "text", text: receipt.saw }] });
  return answer?.isError ? { outcome: "refused", reason: "host", message: "The host did not take it; nothing was sent.", saw: "" } : receipt;
}

/** Lets the model know what went wrong in the card, where the host passes such things on. */
function tell(model) {
  if (!capabilities.updateModelContext || troubles.length === 10) return;
  troubles.push(model);
  const text = `Problems of the card that render_ui showed:\n${troubles.join("\n")}`;
  host.call("ui/update-model-context", { content: [{ type: "text", text }] }).catch(() => {}); // the person sees them anyway
}

const root = document.documentElement;
new ResizeObserver(() => host.tell("ui/notifications/size-changed", { width: innerWidth, height: Math.ceil(root.getBoundingClientRect().height) })).observe(root);

host
  .call("ui/initialize", { appInfo: { name: "macaron-card", version: "1" }, appCapabilities: { availableDisplayModes: ["inline"] }, protocolVersion: "2026-01-26" })
  .then((r) => {
    context = r.hostContext ?? {};
    capabilities = r.hostCapabilities ?? {};
    theme();
    host.tell("ui/notifications/initialized", {});
  });
