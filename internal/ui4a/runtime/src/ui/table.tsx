import { useMemo, useState, type ReactNode } from "react";
import { label, list, nodes, one, text, type Children } from "./check";
import { useOverflow } from "./overflow";

/** A column: the key of its field, or more. */
export type Column = string | { key: string; label?: string; align?: "left" | "right" | "center"; render?: (value: any, row: any) => Children };

export interface TableProps {
  label: string;
  /** objects, or lists in the order of columns */
  rows: (object | unknown[])[];
  /** keys, or {key, label, align, render(value, row)}; every key of the first row without it */
  columns?: Column[];
  /** headings sort */
  sort?: boolean;
}

interface Head {
  key: string;
  label: string;
  align: "left" | "right" | "center";
  render?: (value: unknown, row: unknown) => Children;
}

/** Gives columns in their long form; numbers stand at the right unless it is said otherwise. */
function heads(columns: unknown, rows: readonly Record<string, unknown>[]): Head[] {
  const given = columns === undefined ? Object.keys(rows[0] ?? {}) : list<unknown>(columns, "Table columns");
  const all: Head[] = [];
  for (const c of given) {
    const long = typeof c === "string" ? { key: c } : c && typeof c === "object" ? (c as Partial<Head>) : {};
    const key = text(long.key ?? long.label, "Table column");
    if (key === "") continue;
    const numbers = rows.length > 0 && rows.every((r) => typeof r[key] === "number");
    all.push({
      key,
      label: text(long.label, "Table column") || key,
      align: long.align === undefined ? (numbers ? "right" : "left") : one(long.align, ["left", "right", "center"], "Table align"),
      render: typeof long.render === "function" ? long.render : undefined,
    });
  }
  return all;
}

/** Gives each row as an object: the n-th value of one that is a list is the n-th column's. */
function named(rows: readonly (Record<string, unknown> | unknown[])[], columns: unknown): Record<string, unknown>[] {
  const keys = Array.isArray(columns) ? columns.map((c: Column) => (typeof c === "string" ? c : (c?.key ?? c?.label ?? ""))) : [];
  return rows.map((r) => (Array.isArray(r) ? Object.fromEntries(r.map((v, i) => [keys[i] ?? i + 1, v])) : r));
}

const order = (a: unknown, b: unknown) => (typeof a === "number" && typeof b === "number" ? a - b : String(a ?? "").localeCompare(String(b ?? ""), undefined, { numeric: true }));

/** Rows and columns. */
export function Table(p: TableProps) {
  const name = label(p.label, "Table");
  const given = list<unknown>(p.rows, "Table rows").filter((r): r is Record<string, unknown> | unknown[] => typeof r === "object" && r !== null);
  const rows = useMemo(() => named(given, p.columns), [p.rows, p.columns]);
  const columns = heads(p.columns, rows);
  const [by, setBy] = useState<{ key: string; down: boolean } | null>(null);
  const sorted = useMemo(() => {
    if (by === null) return rows;
    const up = [...rows].sort((a, b) => order(a[by.key], b[by.key]));
    return by.down ? up.reverse() : up;
  }, [rows, by]);
  const [box, overflows] = useOverflow<HTMLDivElement>();
  const press = (key: string) => setBy((b) => (b?.key !== key ? { key, down: false } : b.down ? null : { key, down: true }));
  const direction = (key: string) => (by?.key !== key ? undefined : by.down ? "descending" : "ascending");
  return (
    <div ref={box} className="ui-table" {...(overflows && { tabIndex: 0, role: "region", "aria-label": name })}>
      <table>
        <caption>{name}</caption>
        <thead>
          <tr>
            {columns.map((c) => (
              <th key={c.key} scope="col" className={c.align} aria-sort={direction(c.key)}>
                {p.sort ? (
                  <button type="button" className="ui-sort" onClick={() => press(c.key)}>
                    {c.label}
                    <span aria-hidden>{direction(c.key) === undefined ? " ↕" : direction(c.key) === "ascending" ? " ↑" : " ↓"}</span>
                  </button>
                ) : (
                  c.label
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((r, i) => (
            <tr key={typeof r.id === "string" || typeof r.id === "number" ? r.id : i}>
              {columns.map((c) => (
                <td key={c.key} className={c.align}>
                  {cell(c, r)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function cell(c: Head, row: Record<string, unknown>): ReactNode {
  if (c.render) return nodes(c.render(row[c.key], row), "Table cell");
  const v = row[c.key];
  if (typeof v === "number") return v.toLocaleString();
  return typeof v === "boolean" ? (v ? "yes" : "no") : nodes(v, "Table cell");
}
