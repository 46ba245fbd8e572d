// A web page that is a host of MCP Apps: the official AppBridge, around a sandbox proxy of
// another origin, as the specification has it. It keeps all that a view says.
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

const host = await (await fetch("/host.json")).json();
const card = host.drawn[Number(new URLSearchParams(location.search).get("card"))];
const told = (window.told = { messages: [], context: [], sizes: [], wire: [], views: 0 });

const proxy = document.createElement("iframe");
proxy.id = "proxy";
proxy.style = "width:600px;height:500px;border:0";
proxy.setAttribute("sandbox", "allow-scripts allow-same-origin");
document.body.append(proxy);
addEventListener("message", (e) => e.source === proxy.contentWindow && told.wire.push(JSON.stringify(e.data)));

const bridge = new AppBridge(null, { name: "host", version: "1" }, { message: { text: {} }, updateModelContext: { text: {} } }, { hostContext: { theme: "dark", displayMode: "inline", toolInfo: { id: 7, tool: { name: "render_ui", inputSchema: { type: "object" } } } } });
bridge.onmessage = async (m) => (told.messages.push(m), {});
bridge.onupdatemodelcontext = async (m) => (told.context.push(m), {});
bridge.onsizechange = (s) => {
  told.sizes.push(s);
  proxy.style.height = `${s.height}px`;
};
bridge.onsandboxready = () => bridge.sendSandboxResourceReady({ html: host.html, csp: host.ui.csp });
bridge.oninitialized = async () => {
  told.views++;
  await bridge.sendToolInput({ arguments: card.input });
  await bridge.sendToolResult(card.result);
};
window.teardown = () => bridge.teardownResource({ reason: "over" });
proxy.src = host.proxy;
await bridge.connect(new PostMessageTransport(proxy.contentWindow, proxy.contentWindow));
