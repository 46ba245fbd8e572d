import type { CSSProperties } from "react";
import { nodes, number, one, type Children } from "./check";
import { join } from "./join";

const align = ["stretch", "start", "center", "end", "baseline"] as const;
const justify = ["start", "center", "end", "between"] as const;

/** A step of the scale is 4 px. */
const steps = (n: unknown, instead: number, where: string) => `${number(n, instead, where) * 4}px`;

export interface StackProps {
  children?: Children;
  /** in steps of 4 px; 3 without it */
  gap?: number;
  align?: "stretch" | "start" | "center" | "end" | "baseline";
  className?: string;
}

/** Puts children below each other. */
export function Stack(p: StackProps) {
  const style: CSSProperties = { gap: steps(p.gap, 3, "Stack gap"), alignItems: one(p.align, align, "Stack align") };
  return (
    <div className={join("ui-stack", p.className)} style={style}>
      {nodes(p.children, "Stack")}
    </div>
  );
}

export interface RowProps {
  children?: Children;
  /** in steps of 4 px; 2 without it */
  gap?: number;
  align?: "center" | "start" | "end" | "stretch" | "baseline";
  justify?: "start" | "center" | "end" | "between";
  className?: string;
}

/** Puts children beside each other; what does not fit goes to the next line. */
export function Row(p: RowProps) {
  const style: CSSProperties = {
    gap: steps(p.gap, 2, "Row gap"),
    alignItems: one(p.align, ["center", ...align.filter((a) => a !== "center")], "Row align"),
    justifyContent: one(p.justify, justify, "Row justify").replace("between", "space-between"),
  };
  return (
    <div className={join("ui-row", p.className)} style={style}>
      {nodes(p.children, "Row")}
    </div>
  );
}

export interface GridProps {
  children?: Children;
  /** at most so many columns, fewer where they do not fit; 2 without it */
  cols?: number;
  /** in steps of 4 px; 3 without it */
  gap?: number;
  /** narrowest column in px; 140 without it */
  min?: number;
  className?: string;
}

/** Puts children into columns of equal width. */
export function Grid(p: GridProps) {
  const cols = Math.max(1, Math.min(12, Math.round(number(p.cols, 2, "Grid cols"))));
  const gap = steps(p.gap, 3, "Grid gap");
  const min = Math.max(0, number(p.min, 140, "Grid min"));
  // A column is as narrow as min allows, and no narrower than its part of cols.
  const width = `max(min(${min}px, 100%), (100% - ${cols - 1} * ${gap}) / ${cols})`;
  return (
    <div className={join("ui-grid", p.className)} style={{ gap, gridTemplateColumns: `repeat(auto-fill, minmax(${width}, 1fr))` }}>
      {nodes(p.children, "Grid")}
    </div>
  );
}
