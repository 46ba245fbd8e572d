// What is drawn, out of what a card gives.
import { list, number, text } from "../ui/check";
import { report } from "../problem";

/** Rows by their names, and one list of values for each series. */
export interface Read {
  names: string[];
  series: { key: string; name: string; values: (number | null)[] }[];
}

const most = 2000; // rows that are drawn

interface Given {
  label?: unknown;
  data?: unknown;
  x?: unknown;
  y?: unknown;
  names?: unknown;
}

/** Reads what is drawn; a value that is no number is a gap. */
export function read(p: Given): Read {
  if (p.data === undefined && Array.isArray(p.x)) return lists(p, p.x.slice(0, most));
  if (p.data === undefined) report({ code: "prop", message: "Chart: data is missing", fix: "give data, or lists in x and y" });
  const rows = list<unknown>(p.data, "Chart data").filter((r): r is Record<string, unknown> => typeof r === "object" && r !== null).slice(0, most);
  const x = text(p.x, "Chart x");
  const keys = (Array.isArray(p.y) ? p.y : [p.y]).map((k) => text(k, "Chart y")).filter((k) => k !== "");
  const named = (p.names ?? {}) as Record<string, unknown>;
  for (const key of [x, ...keys]) {
    if (rows.length > 0 && key !== "" && !rows.some((r) => key in r)) {
      report({ code: "prop", message: `Chart: no row has a field ${key}`, fix: `the fields are ${Object.keys(rows[0]!).slice(0, 8).join(", ")}` });
    }
  }
  return {
    names: rows.map((r, i) => text(r[x], "Chart x") || String(i + 1)),
    series: keys.map((key) => ({ key, name: text(named[key], "Chart names") || key, values: rows.map((r) => value(r[key])) })),
  };
}

/** Reads a list of names and one of numbers, or several by their series' names. */
function lists(p: Given, x: readonly unknown[]): Read {
  const named = (p.names ?? {}) as Record<string, unknown>;
  const several = Array.isArray(p.y) ? { [text(p.label, "Chart label")]: p.y } : ((typeof p.y === "object" && p.y) || {});
  return {
    names: x.map((n, i) => text(n, "Chart x") || String(i + 1)),
    series: Object.entries(several).map(([key, values]) => {
      const numbers = list<unknown>(values, `Chart y ${key}`);
      return { key, name: text(named[key], "Chart names") || key, values: x.map((_, i) => value(numbers[i])) };
    }),
  };
}

function value(v: unknown): number | null {
  if (v === null || v === undefined || v === "") return null;
  const n = number(v, NaN, "Chart y");
  return Number.isNaN(n) ? null : n;
}

/** Puts series on each other: for each value where it begins and ends. */
export function stack(r: Read, stacked: boolean): [from: number, to: number][][] {
  const up = r.names.map(() => 0);
  const down = r.names.map(() => 0);
  return r.series.map((s) =>
    s.values.map((v, i) => {
      const n = v ?? 0;
      if (!stacked) return [0, n];
      const side = n < 0 ? down : up;
      side[i]! += n;
      return [side[i]! - n, side[i]!];
    }),
  );
}

/** The colours of series, which come again after six. */
export const colour = (i: number) => `var(--series-${(i % 6) + 1})`;
