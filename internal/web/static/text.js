// Shows what a model or a person wrote: paragraphs, fenced code and inline code, and
// nothing else. Everything is a text node in the end, whatever it looks like.

import { h, icon, copyText } from "./dom.js";

const fence = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/;

/** Cuts a text into {kind: "text"|"code", text, lang}. A fence without an end reaches to the end. */
export function blocks(text) {
  const out = [];
  let code = null; // the open block and its fence
  let lines = [];
  const flush = () => {
    const body = lines.join("\n");
    if (code || body.trim()) out.push(code ? { kind: "code", lang: code.lang, text: body } : { kind: "text", text: body });
    lines = [];
  };
  for (const line of text.split("\n")) {
    const m = fence.exec(line);
    if (!code && m) {
      flush();
      code = { mark: m[1], lang: m[2] };
    } else if (code && m && m[2] === "" && m[1][0] === code.mark[0] && m[1].length >= code.mark.length) {
      flush();
      code = null;
    } else {
      lines.push(line);
    }
  }
  flush();
  return out;
}

/** Fills an element with a text. */
export function fill(el, text) {
  el.replaceChildren(...blocks(text).flatMap((b) => (b.kind === "code" ? [codeBlock(b)] : paragraphs(b.text))));
}

function paragraphs(text) {
  return text
    .split(/\n{2,}/)
    .filter((p) => p.trim())
    .map((p) => h("p", { dir: "auto" }, inline(p.replace(/^\n+|\n+$/g, ""))));
}

/** Splits at `code`; a lone backtick stays what it is. */
function inline(text) {
  return text.split(/(`[^`\n]+`)/).map((s) => (/^`[^`\n]+`$/.test(s) ? h("code", {}, s.slice(1, -1)) : s));
}

function codeBlock({ lang, text }) {
  const copy = h("button", { type: "button", class: "icon", "aria-label": "Copy the code", title: "Copy the code" }, icon("copy"));
  copy.addEventListener("click", () => copyText(copy, text));
  return h(
    "div",
    { class: "code" },
    h("div", { class: "code-head" }, h("span", {}, lang || "text"), copy),
    h("pre", { tabindex: "0" }, h("code", {}, text)),
  );
}
