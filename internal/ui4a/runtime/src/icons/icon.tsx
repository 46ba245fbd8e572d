import { createElement } from "react";

type Paths = readonly [tag: string, attributes: Record<string, string>][];

export interface IconProps {
  /** px; 20 without it */
  size?: number | string;
  /** what it means, when no text beside it says so */
  label?: string;
  className?: string;
  color?: string;
  strokeWidth?: number;
}

// An icon is decoration unless it has a label.
const frame = (p: IconProps) => ({
  width: p.size ?? 20,
  height: p.size ?? 20,
  className: typeof p.className === "string" ? `ui-icon ${p.className}` : "ui-icon",
  viewBox: "0 0 24 24",
  fill: "none",
  stroke: p.color ?? "currentColor",
  strokeWidth: p.strokeWidth ?? 2,
  strokeLinecap: "round" as const,
  strokeLinejoin: "round" as const,
  role: p.label ? "img" : undefined,
  "aria-label": p.label || undefined,
  "aria-hidden": p.label ? undefined : true,
});

/** Makes an icon of lucide's paths. */
export function icon(name: string, paths: Paths) {
  function Icon(p: IconProps) {
    return createElement("svg", frame(p), ...paths.map(([tag, attributes]) => createElement(tag, attributes)));
  }
  Icon.displayName = name;
  return Icon;
}

/** Stands where an icon has no known name: an empty square of the same size. */
export function blank(name: string) {
  function Blank(p: IconProps) {
    return createElement("svg", frame(p), createElement("rect", { x: 4, y: 4, width: 16, height: 16, rx: 2 }));
  }
  Blank.displayName = name;
  return Blank;
}
