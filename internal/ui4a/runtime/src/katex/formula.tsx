import { useMemo } from "react";
import { trustMarkup } from "../prelude/markup";
import { report } from "../problem";
import { text } from "../ui/check";
import { useOverflow } from "../ui/overflow";

type Temml = typeof import("temml").default;
declare function require(name: "temml"): Temml | { default: Temml };

// A formula is expanded a bounded number of times and may not reach out by itself.
const bounds = { throwOnError: false, trust: false, strict: false, maxExpand: 500, maxSize: [50, 50] as [number, number] };
const longest = 10_000;

// The typesetter is run when the first formula is drawn, not when a card starts.
function typesetter(): Temml {
  const loaded = require("temml");
  return "default" in loaded ? loaded.default : loaded;
}

function markup(tex: string, displayMode: boolean): string {
  const html = typesetter().renderToString(tex.slice(0, longest), { ...bounds, displayMode });
  if (html.includes("temml-error")) report({ code: "tex", message: `formula not understood: ${tex.slice(0, 80)}`, fix: "check its commands and braces" });
  return html;
}

export interface LaTeXProps {
  /** the formula, without dollar signs */
  tex: string;
}

/** A formula inside a line of text. */
export function LaTeX(p: LaTeXProps) {
  const tex = text(p.tex, "LaTeX tex");
  const html = useMemo(() => markup(tex, false), [tex]);
  return <span className="ui-tex" dangerouslySetInnerHTML={{ __html: trustMarkup(html) }} />;
}

export interface MathBlockProps {
  /** the formula, without dollar signs */
  tex: string;
}

/** A formula on lines of its own. */
export function MathBlock(p: MathBlockProps) {
  const tex = text(p.tex, "MathBlock tex");
  const html = useMemo(() => markup(tex, true), [tex]);
  const [box, overflows] = useOverflow<HTMLDivElement>();
  return <div ref={box} className="ui-tex-block" {...(overflows && { tabIndex: 0, role: "region", "aria-label": "formula" })} dangerouslySetInnerHTML={{ __html: trustMarkup(html) }} />;
}
