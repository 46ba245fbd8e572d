// What is seen of a card, from a world of its own: the card's scripts cannot change what
// these functions find. computedRole and computedName are the browser's own answers
// (browser.Start turns them on).
"use strict";
globalThis.probe = (() => {
  const pressable = new Set(["button", "link", "checkbox", "radio", "switch", "tab", "option", "menuitem", "menuitemradio", "menuitemcheckbox", "treeitem", "disclosuretriangle"]);
  const fillable = new Set(["textbox", "searchbox", "spinbutton", "slider", "combobox", "listbox", "date", "datetime", "inputtime", "colorwell"]);
  const isControl = (role) => pressable.has(role) || fillable.has(role);

  function all(root = document) {
    const found = [];
    for (const e of root.querySelectorAll("*")) {
      found.push(e);
      if (e.shadowRoot) found.push(...all(e.shadowRoot));
    }
    return found;
  }

  // What can have a role that matters: asking the browser for the role of each of thousands
  // of plain elements would make the card hang. For each answer it makes the tree of the whole
  // document anew: a chart of two series, each point with its title, kept a card silent for
  // so long that it was stopped.
  const plain = /^(div|span|p|i|b|em|strong|small|br|g|path|line|rect|circle|polyline|polygon|text|tspan|title|desc|style|script)$/i;
  const spoken = (e) => !plain.test(e.tagName) || e.hasAttribute("role");
  const operable = (e) => /^(a|area|button|input|select|textarea|summary|option)$/i.test(e.tagName) || e.hasAttribute("role") || e.hasAttribute("contenteditable");

  const box = (e) => e.getBoundingClientRect();
  const sized = (r) => r.width >= 2 && r.height >= 2;
  const seen = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true }) && sized(box(e)) && !clippedAway(e);

  // A box of 1 pixel, or one that is clipped to nothing, is there for screen readers only.
  function clippedAway(e) {
    for (let p = e; p && p !== document.documentElement; p = p.parentElement) {
      const s = getComputedStyle(p), r = box(p);
      if ((s.overflow !== "visible" && (r.width < 2 || r.height < 2)) || s.clipPath === "inset(50%)" || s.clip === "rect(0px, 0px, 0px, 0px)") return true;
    }
    return false;
  }

  // The role under which the cases know an element.
  function roleOf(e) {
    if (e.tagName === "SELECT") return e.multiple || e.size > 1 ? "listbox" : "combobox";
    if (e.tagName === "SUMMARY") return "button";
    if (e.tagName === "INPUT" && /^(date|time|month|week|datetime-local|color)$/.test(e.type)) return "textbox"; // WAI-ARIA has no role for them
    const role = (e.computedRole || "").toLowerCase();
    return { textfield: "textbox", "presentation": "none", image: "img", menulistpopup: "listbox", disclosuretriangle: "button", graphics: "img", inputtime: "textbox", date: "textbox", datetime: "textbox", colorwell: "textbox" }[role] ?? role;
  }

  function nameOf(e) {
    return ((e.computedName || "").trim() || e.getAttribute("aria-label") || (e.labels && e.labels[0]?.innerText) || "").replace(/\s+/g, " ").trim();
  }

  // Where a click goes: the control, or its label where the control itself is hidden.
  function place(e) {
    if (seen(e)) return e;
    for (const l of e.labels ?? []) if (seen(l)) return l;
    return null;
  }

  const on = (e, attribute) => (e.getAttribute(attribute) === "true" ? true : e.getAttribute(attribute) === "false" ? false : null);

  function checkedOf(e, role) {
    if (e instanceof HTMLInputElement && (e.type === "checkbox" || e.type === "radio")) return e.checked;
    if (e.tagName === "OPTION") return e.selected;
    for (const a of ["aria-checked", "aria-selected", "aria-pressed"]) {
      const v = on(e, a);
      if (v !== null) return v;
    }
    if (e.getAttribute("aria-current") && e.getAttribute("aria-current") !== "false") return true;
    return role === "radio" || role === "checkbox" || role === "switch" || role === "tab" ? false : null;
  }

  function valueOf(e, role) {
    if (e.tagName === "SELECT") return e.selectedOptions[0]?.text ?? "";
    if ("value" in e && typeof e.value === "string" && !pressable.has(role)) return e.value;
    if (e.hasAttribute("aria-valuenow")) return e.getAttribute("aria-valuenow");
    return role === "combobox" ? e.innerText.trim() : e.isContentEditable ? e.innerText : "";
  }

  let known = []; // elements of the last look, by number

  function controls() {
    known = [];
    const list = [];
    for (const e of all()) {
      const at = operable(e) && place(e);
      if (!at) continue;
      const role = roleOf(e);
      if (!isControl(role) || e.closest("[aria-hidden=true]") || (role === "option" && e.tagName === "OPTION")) continue;
      const r = box(at), own = box(e);
      let target = { w: own.width, h: own.height };
      for (const l of e.labels ?? []) if (seen(l) && (role === "checkbox" || role === "radio" || role === "switch")) {
        const b = box(l);
        target = { w: Math.max(own.right, b.right) - Math.min(own.left, b.left), h: Math.max(own.height, b.height) };
      }
      known.push(e);
      list.push({
        sealed: false, id: known.length - 1, role, name: nameOf(e), tag: e.tagName.toLowerCase(), type: e.type || "",
        x: r.x, y: r.y, w: r.width, h: r.height, targetW: target.w, targetH: target.h,
        disabled: e.matches(":disabled") || e.getAttribute("aria-disabled") === "true" || !!e.closest("fieldset:disabled, [inert]"),
        checked: checkedOf(e, role), expanded: on(e, "aria-expanded") ?? (e.tagName === "SUMMARY" ? e.parentElement.open : null),
        value: valueOf(e, role), options: e.tagName === "SELECT" ? [...e.options].map((o) => o.text.trim()) : null,
        min: e.min || e.getAttribute("aria-valuemin") || "", max: e.max || e.getAttribute("aria-valuemax") || "", step: e.step || "",
        group: groupOf(e, role), inline: role === "link" && getComputedStyle(e).display === "inline", readonly: !!e.readOnly,
        group_name: groupName(e, role), required: !!e.required,
      });
    }
    for (const f of document.querySelectorAll(".ui-private")) {
      const e = f.querySelector(":scope > div > div"); // holds a closed shadow tree with the input
      if (!e || e.childElementCount || e.shadowRoot || !seen(e)) continue;
      const r = box(e), name = (f.querySelector(".ui-label")?.innerText ?? "").trim();
      known.push(e);
      list.push({ sealed: true, id: known.length - 1, role: "textbox", name, tag: "div", type: "text", x: r.x, y: r.y, w: r.width, h: r.height, targetW: r.width, targetH: r.height,
        disabled: false, checked: null, expanded: null, value: "", options: null, min: "", max: "", step: "", group: "", group_name: "", inline: false, readonly: false, required: false });
    }
    return list.sort((a, b) => (known[a.id].compareDocumentPosition(known[b.id]) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
  }

  // Controls of one group share one stop of the Tab key.
  const groups = new Map();
  function groupOf(e, role) {
    let g = null;
    if (e.type === "radio") g = e.closest("form, fieldset, [role=radiogroup]") ?? document.body, g = g && (e.name ? g : e);
    else if (role === "radio") g = e.closest("[role=radiogroup], [role=group], [role=menu], [role=toolbar]");
    else if (role === "tab") g = e.closest("[role=tablist]");
    else if (role === "option") g = e.closest("[role=listbox]");
    else if (role.startsWith("menuitem")) g = e.closest("[role=menu], [role=menubar]");
    else g = e.closest("[role=toolbar]");
    if (!g) return "";
    if (!groups.has(g)) groups.set(g, "g" + groups.size);
    return groups.get(g) + (e.type === "radio" ? "/" + e.name : "");
  }

  function groupName(e, role) {
    const g = e.closest("fieldset, [role=radiogroup], [role=group], [role=tablist], [role=listbox]");
    return g && g !== e ? nameOf(g) : "";
  }

  // What a person can read: texts, and what stands in fields.
  function text() {
    const parts = [document.body.innerText];
    for (const e of all()) {
      if (e.shadowRoot) parts.push(e.shadowRoot.textContent);
      if (e.tagName === "SELECT" && seen(e)) parts.push(e.selectedOptions[0]?.text ?? "");
      else if ((e.tagName === "INPUT" || e.tagName === "TEXTAREA") && !["password", "hidden", "checkbox", "radio", "range"].includes(e.type) && seen(e)) parts.push(e.value);
    }
    for (const t of document.querySelectorAll("svg text")) if (!parts[0].includes(t.textContent)) parts.push(t.textContent);
    return parts.join("\n");
  }

  // One text for one state: markup without generated names, and what is typed or ticked.
  function key() {
    const html = document.body.innerHTML
      .replace(/\b(id|for|name|aria-[a-z]*by|aria-controls|aria-owns|aria-activedescendant|aria-details|clip-path|fill|mask|href|src)="[^"]*"/g, (m, a) => (/_r_|:r|radix-|blob:|url\(#|="#/.test(m) ? a : m))
      .replace(/ data-radix-[a-z-]*="[^"]*"/g, "");
    const values = all().filter((e) => "value" in e && typeof e.value === "string").map((e) => e.value + "|" + !!e.checked);
    return html + "\u0000" + values.join("\u0001");
  }

  const hash = (s) => { // FNV-1a, 52 bits: tells states apart, no more
    let a = 0x811c9dc5, b = 0x1000193;
    for (let i = 0; i < s.length; i++) { a = Math.imul(a ^ s.charCodeAt(i), 16777619); b = Math.imul(b + s.charCodeAt(i), 69069) ^ (b >>> 13); }
    return (a >>> 0).toString(16) + (b >>> 0).toString(16);
  };

  let invalid = 0;
  document.addEventListener("invalid", () => invalid++, true);

  function state() {
    return { hash: now(), text: text(), controls: controls() };
  }

  const now = () => hash(key()) + "/" + invalid;

  // Waits until the state is another than before, or for so many milliseconds.
  async function changed(before, ms) {
    for (const end = performance.now() + ms; performance.now() < end; ) {
      if (now() !== before) return true;
      await new Promise((go) => setTimeout(go, 12));
    }
    return now() !== before;
  }

  // Puts a value into a field that takes no typed text, such as a date.
  function put(id, value) {
    const e = known[id];
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(e, value);
    e.dispatchEvent(new Event("input", { bubbles: true }));
    e.dispatchEvent(new Event("change", { bubbles: true }));
    return e.value === value;
  }

  const read = (id) => (known[id]?.isConnected ? valueOf(known[id], roleOf(known[id])) : "");
  const selected = (id) => known[id]?.selectedIndex ?? -1;

  // Waits until nothing has moved for a little while, pictures are there, and the frame is
  // as high as what is in it.
  const lie = () => hash(key()) + [...document.images].every((i) => i.complete) + innerHeight + "/" + box(document.body).height;
  async function settled(ms = 1500) {
    let last = lie(), quiet = 0;
    for (const end = performance.now() + ms; performance.now() < end && quiet < 3; ) {
      await new Promise((go) => setTimeout(go, 24));
      const now = lie();
      quiet = now === last ? quiet + 1 : 0;
      last = now;
    }
    return quiet >= 3;
  }

  let aimed = [], arrived = false;
  document.addEventListener("pointerdown", (event) => (arrived ||= event.composedPath().some((n) => aimed.includes(n))), true);
  addEventListener("pointerdown", (event) => (arrived ||= aimed.includes(event.target)), true);

  // Whether the press has arrived where it was meant to.
  async function hit(ms) {
    for (const end = performance.now() + ms; performance.now() < end && !arrived; ) await new Promise((go) => setTimeout(go, 8));
    return arrived;
  }

  // Brings a control into view and gives the point to click, or why it cannot be clicked.
  function aim(id) {
    const e = known[id];
    if (!e?.isConnected) return { why: "it is gone" };
    const at = place(e);
    if (!at) return { why: "it is not visible" };
    reveal(at);
    arrived = false;
    aimed = [e, at];
    const r = [...at.getClientRects()].find(sized) ?? box(at);
    for (const [fx, fy] of [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25]]) {
      const x = r.x + r.width * fx, y = r.y + r.height * fy;
      let hit = document.elementFromPoint(x, y);
      while (hit?.shadowRoot?.elementFromPoint(x, y) && hit.shadowRoot.elementFromPoint(x, y) !== hit) hit = hit.shadowRoot.elementFromPoint(x, y);
      if (hit && (e.contains(hit) || at.contains(hit) || hit.contains(e) && roleOf(hit) === "" || hit.closest("label")?.control === e)) return { x, y, why: "" };
    }
    return { why: "something lies over it" };
  }

  // Scrolls what lies around a control in the document; the page around a frame is not moved.
  function reveal(e) {
    for (let p = e.parentElement; p; p = p.parentElement) {
      const s = getComputedStyle(p), top = p === document.documentElement;
      const view = top ? { top: 0, bottom: innerHeight, left: 0, right: innerWidth } : box(p), r = box(e);
      if ((top || /auto|scroll/.test(s.overflowY)) && p.scrollHeight > p.clientHeight + 1 && (r.top < view.top || r.bottom > view.bottom)) p.scrollTop += r.top - view.top - (view.bottom - view.top - r.height) / 2;
      if ((top || /auto|scroll/.test(s.overflowX)) && p.scrollWidth > p.clientWidth + 1 && (r.left < view.left || r.right > view.right)) p.scrollLeft += r.left - view.left - (view.right - view.left - r.width) / 2;
    }
  }

  function focus(id) {
    const e = known[id];
    if (e) reveal(e);
    e?.focus({ preventScroll: true });
    if (e?.select) { try { e.select(); } catch { /* some types have no selection */ } }
    return deepActive() === e;
  }

  function deepActive() {
    let a = document.activeElement;
    while (a?.shadowRoot?.activeElement) a = a.shadowRoot.activeElement;
    return a;
  }

  const looks = (e) => {
    const s = getComputedStyle(e);
    return [s.outlineStyle, s.outlineWidth, s.outlineColor, s.boxShadow, s.borderTopColor, s.borderTopWidth, s.backgroundColor, s.textDecorationLine, s.color].join("|");
  };
  let resting = [];

  // Remembers what controls look like without focus.
  function rest() {
    deepActive()?.blur?.();
    controls();
    resting = known.map((e) => [e, ...around(e)].map(looks).join("#"));
    return known.length;
  }
  const around = (e) => [e.parentElement, ...(e.labels ?? []), e.parentElement?.parentElement].filter(Boolean);

  function focused() {
    const a = deepActive();
    const id = known.indexOf(a);
    if (id < 0) return { id: -1, tag: a?.tagName ?? "", visible: true };
    if (a.closest(".ui-private")) return { id, tag: a.tagName, visible: true }; // its own look cannot be seen from here
    return { id, tag: a.tagName, visible: resting[id] !== [a, ...around(a)].map(looks).join("#") };
  }

  function picture(prefix) {
    return [...document.images].filter(seen).map((i) => ({ src: i.src.slice(0, 200000), ok: i.complete && i.naturalWidth > 0, w: box(i).width, h: box(i).height, alt: i.alt })).filter((i) => i.src.startsWith(prefix));
  }

  function roles() {
    const found = [];
    for (const e of all()) {
      if (!spoken(e) || !place(e)) continue;
      const role = roleOf(e);
      if (role && role !== "generic" && role !== "none" && !e.closest("[aria-hidden=true]")) found.push({ role, name: nameOf(e).slice(0, 200) });
    }
    return found;
  }

  const iconic = (e) => e.closest("button, a, [role=button], [role=tab], label") || box(e).width < 80 || box(e).height < 60;
  const charts = () => all().filter((e) => (e.tagName === "svg" || e.tagName === "CANVAS") && !e.parentElement?.closest("svg") && seen(e) && !iconic(e)).length;

  return { state, changed, settled, aim, hit, focus, rest, focused, picture, roles, charts, seen, box, all, roleOf, nameOf, text, now, put, read, selected, deepActive };
})();
