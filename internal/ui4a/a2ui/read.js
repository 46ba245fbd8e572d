// Reads what a card has drawn, as a tree of nodes for internal/ui4a/a2ui. It is an expression
// that is evaluated in a world of its own in the card's document.
((press) => {
  const root = document.querySelector("#card");
  const controls = [...root.querySelectorAll("button, input, textarea, select, summary, [role=slider], [role=tab]")].filter((e) => e.type !== "hidden");
  if (press !== null) {
    controls[press].scrollIntoView({ block: "nearest" });
    const r = controls[press].getBoundingClientRect();
    return [r.x + r.width / 2, r.y + r.height / 2];
  }
  const labels = new Set();
  for (const e of root.querySelectorAll("[aria-labelledby]")) for (const id of e.getAttribute("aria-labelledby").split(/\s+/)) labels.add(id);
  const done = new Set(); // radio buttons of groups that are there
  const text = (s) => s.replace(/\s+/g, " ").trim();
  const number = (e) => controls.indexOf(e);
  const named = (e) => text(e.computedName || e.getAttribute("aria-label") || e.textContent).replace(/ \*$/, "");
  const lost = (loss, name) => ({ k: "lost", loss, name: text(name) || loss });

  function hidden(e) {
    const s = getComputedStyle(e);
    return s.display === "none" || s.visibility === "hidden" || (e.classList.contains("sr-only") && !e.matches("input"));
  }

  function control(e) {
    const base = { n: number(e), name: named(e) };
    if (e.matches("summary, [aria-haspopup], button[aria-expanded]")) return lost("disclosure", base.name);
    if (e.matches("[role=switch], input[type=checkbox]")) return { ...base, k: "check", value: e.matches("input") ? e.checked : e.ariaChecked === "true" };
    if (e.matches("[role=slider]")) return { ...base, k: "slider", value: Number(e.ariaValueNow), min: Number(e.ariaValueMin), max: Number(e.ariaValueMax) };
    if (e.matches("button, input[type=button], input[type=submit]")) return { ...base, k: "button", variant: e.matches(".ui-button.primary, [type=submit]") ? "primary" : "default" };
    if (e.matches("select")) return { ...base, k: "choice", many: e.multiple, value: [...e.selectedOptions].map((o) => o.value), options: [...e.options].map((o) => ({ label: text(o.label), value: o.value })) };
    if (e.type === "range") return { ...base, k: "slider", value: Number(e.value), min: Number(e.min || 0), max: Number(e.max || 100) };
    if (e.type === "radio") return radios(e);
    if (["date", "time", "datetime-local"].includes(e.type)) return { ...base, k: "date", variant: e.type, value: e.value };
    if (["file", "color", "image"].includes(e.type)) return lost("control", base.name);
    const variant = e.matches("textarea") ? "longText" : { number: "number", password: "obscured" }[e.type] ?? "shortText";
    return { ...base, k: "field", variant, value: e.value };
  }

  function radios(e) {
    const around = e.closest("[role=radiogroup], fieldset");
    const all = [...(around ?? root).querySelectorAll("input[type=radio]")].filter((r) => r.name === e.name);
    if (done.has(e)) return null;
    for (const r of all) done.add(r);
    const other = all.find((r) => !r.checked) ?? e;
    const value = (r) => (r.hasAttribute("value") ? r.value : named(r));
    return { k: "choice", variant: "radio", n: number(other), name: around ? named(around) : e.name, value: all.filter((r) => r.checked).map(value), options: all.map((r) => ({ label: named(r), value: value(r) })) };
  }

  function tabs(e) {
    const all = [...e.querySelector("[role=tablist]").querySelectorAll("[role=tab]")];
    const open = all.findIndex((t) => t.ariaSelected === "true");
    const panel = [...e.querySelectorAll("[role=tabpanel]")].find((p) => !hidden(p));
    return { k: "tabs", name: named(e.querySelector("[role=tablist]")), titles: all.map(named), tabs: all.map(number), open: Math.max(open, 0), children: panel ? [box(panel)] : [] };
  }

  const tells = "label, button, input, textarea, select, summary, img, svg, canvas, table, ul, ol, hr, math, .ui-tex, .ui-private, [role=slider], [role=tablist], [role=progressbar]";

  /** Nodes of an element: none, one, or those of what is in it. */
  function nodes(e) {
    if (hidden(e)) return [];
    if (e.matches(".ui-private")) return [lost("private", e.querySelector(".ui-label")?.textContent ?? "")];
    if (e.matches("button, input, textarea, select, summary, [role=slider]")) return [control(e)].filter(Boolean);
    if (e.matches("figure.ui-chart, canvas")) return [lost("chart", e.querySelector("[aria-label]")?.ariaLabel ?? e.ariaLabel ?? "")];
    if (e.matches("svg")) {
      const r = e.getBoundingClientRect();
      return [lost(r.width >= 80 && r.height >= 60 ? "chart" : "icon", e.ariaLabel ?? "")];
    }
    if (e.matches(".ui-tex, math")) return [lost("formula", e.querySelector("annotation")?.textContent ?? e.textContent)];
    if (e.matches("[role=progressbar]")) return [{ k: "text", text: e.ariaValueText ?? e.ariaValueNow, variant: "body" }];
    if (e.matches("img")) return [{ k: "image", src: e.currentSrc || e.src, name: e.alt }];
    if (e.matches("hr")) return [{ k: "rule" }];
    if (e.matches("details, dialog") && !e.open) return [lost("disclosure", e.querySelector("summary")?.textContent ?? e.ariaLabel ?? "")];
    if (e.matches("label") && (e.control || e.htmlFor)) return e.contains(e.control) ? nodes(e.control) : [];
    if (e.matches(".ui-field > .ui-label")) return []; // a control's name and value
    if (labels.has(e.id) && e.id) return [];
    if (e.matches("table")) return [table(e)];
    if (e.matches("ul, ol")) return [list(e)];
    if ([...e.children].some((c) => c.matches("[role=tablist]"))) return [tabs(e)];
    if (e.matches(".ui-card")) return [{ k: "card", children: [box(e)] }];
    if (!e.querySelector(tells) && leaf(e)) return words(e);
    const b = box(e);
    return b.children.length > 1 ? [b] : b.children;
  }

  const inline = (e) => getComputedStyle(e).display.startsWith("inline") || e.tagName === "BR";
  const leaf = (e) => [...e.children].every((c) => (inline(c) || hidden(c)) && leaf(c));

  function words(e) {
    const said = text(e.innerText);
    const heading = /^H[1-6]$/.test(e.tagName) ? `h${Math.min(Number(e.tagName[1]), 5)}` : "";
    const small = e.matches(".ui-hint, .text-muted, .text-xs, small, figcaption, caption");
    return said === "" ? [] : [{ k: "text", text: said, variant: heading || (small ? "caption" : "body") }];
  }

  function box(e) {
    const s = getComputedStyle(e);
    const children = [];
    const lines = []; // the top of each child, where children stand beside each other
    for (const c of e.childNodes) {
      const of = c.nodeType === 3 ? (text(c.data) === "" ? [] : [{ k: "text", text: text(c.data), variant: "body" }]) : c.nodeType === 1 ? nodes(c) : [];
      const top = c.nodeType === 1 ? c.getBoundingClientRect() : undefined;
      for (const n of of) {
        children.push(n);
        lines.push(top ? top.y + top.height / 2 : (lines.at(-1) ?? 0));
      }
    }
    const beside = s.display.includes("grid") || (s.display.includes("flex") && s.flexDirection.startsWith("row")) || [...e.children].some(inline);
    return beside ? rows(children, lines) : { k: "column", children };
  }

  /** Children as rows, by where they were drawn. */
  function rows(children, lines) {
    const out = [];
    children.forEach((c, i) => {
      if (i > 0 && Math.abs(lines[i] - lines[i - 1]) < 12) out.at(-1).children.push(c);
      else out.push({ k: "row", children: [c] });
    });
    const plain = out.map((r) => (r.children.length === 1 ? r.children[0] : r));
    return plain.length === 1 && plain[0].k === "row" ? plain[0] : { k: "column", children: plain };
  }

  function list(e) {
    const items = [...e.children].filter((c) => !hidden(c)).map((c, i) => {
      const b = box(c);
      if (e.matches("ol") && b.children[0]?.k === "text") b.children[0].text = `${i + 1}. ${b.children[0].text}`;
      return b.children.length === 1 ? b.children[0] : b;
    });
    return { k: "list", children: items.filter((n) => n.k !== "column" || n.children.length > 0) };
  }

  function table(e) {
    const cell = (c) => {
      const b = box(c);
      return b.children.length === 1 ? b.children[0] : b.children.length ? b : { k: "text", text: "–", variant: "body" };
    };
    return { k: "column", loss: "table", name: text(e.caption?.textContent ?? e.ariaLabel ?? "") || "table", children: [...e.rows].map((r) => ({ k: "row", children: [...r.cells].map(cell) })) };
  }

  const own = (e) => [...e.classList].every((c) => !c.startsWith("ui-")) && (e.classList.length > 0 || (e.style.length > 0 && !e.matches("[role=tabpanel]") && !e.closest(".ui-field, .ui-toggle, .ui-chart, [role=tablist]")));
  const styled = [...root.querySelectorAll("[class], [style]")].filter((e) => own(e) && !e.closest("svg, .ui-tex, .ui-private"));
  return { root: box(root), styled: styled.length };
})
