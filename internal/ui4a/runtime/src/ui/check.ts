// Values that a card hands over, made safe: what does not fit is told and replaced, so
// that a half-written or careless card still shows something.
import { isValidElement, type ReactNode } from "react";
import { report } from "../problem";

/** What a component may have inside. */
export type Children = ReactNode;

const clip = (s: string) => (s.length > 120 ? s.slice(0, 120) + "…" : s);

function told(where: string, message: string, fix: string) {
  report({ code: "prop", message: `${where}: ${message}`, fix });
}

function written(value: object): string {
  if (value instanceof Date) return Number.isNaN(+value) ? "–" : value.toLocaleString();
  try {
    return clip(JSON.stringify(value) ?? "");
  } catch {
    return "";
  }
}

/** Gives value as something that React can draw: an object becomes text and is told. */
export function nodes(value: unknown, where: string): ReactNode {
  if (Array.isArray(value)) {
    return value.some((v) => unfit(v)) ? value.map((v) => nodes(v, where)) : (value as ReactNode);
  }
  if (!unfit(value)) return value as ReactNode;
  if (typeof value === "object") {
    told(where, "an object cannot be shown as it is", "show one of its fields, or String(value)");
    return written(value as object);
  }
  told(where, `a ${typeof value} cannot be shown`, "call it, or leave it out");
  return null;
}

function unfit(v: unknown): boolean {
  if (v === null || v === undefined) return false;
  if (Array.isArray(v)) return v.some(unfit);
  if (typeof v === "object") return !isValidElement(v) && !(Symbol.iterator in v) && !("$$typeof" in v);
  return typeof v === "function" || typeof v === "symbol";
}

/** Gives value as plain text, for labels and attributes. */
export function text(value: unknown, where: string): string {
  if (value === null || value === undefined || typeof value === "boolean") return "";
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  told(where, "a text is expected here", "give a string");
  return typeof value === "object" ? written(value) : "";
}

/** Gives a label that must be there; without one, what the component is. */
export function label(value: unknown, component: string): string {
  const s = text(value, `${component} label`).trim();
  if (s !== "") return s;
  told(component, "label is missing", `write <${component} label="…">`);
  return component;
}

/** Gives a number; what is none becomes instead. */
export function number(value: unknown, instead: number, where: string): number {
  if (value === undefined || value === null || value === "") return instead;
  const n = typeof value === "number" ? value : typeof value === "string" ? Number(value) : NaN;
  if (Number.isFinite(n)) return n;
  told(where, `${clip(String(value))} is no number`, "give a number");
  return instead;
}

/** Gives a list; what is none becomes an empty one. */
export function list<T>(value: unknown, where: string): readonly T[] {
  if (Array.isArray(value)) return value;
  if (value !== undefined && value !== null) told(where, "a list is expected here", "give an array");
  return [];
}

/** Gives one of the allowed values, the first for another. */
export function one<const T extends string>(value: unknown, allowed: readonly T[], where: string): T {
  if (value === undefined || value === null) return allowed[0]!;
  if (allowed.includes(value as T)) return value as T;
  told(where, `${clip(String(value))} is none of its values`, `use ${allowed.join(", ")}`);
  return allowed[0]!;
}

/** Gives a function; what is none does nothing. */
export function call<A extends unknown[]>(value: unknown, where: string): (...args: A) => void {
  if (typeof value === "function") return value as (...args: A) => void;
  if (value !== undefined && value !== null) told(where, "a function is expected here", "write () => …");
  return () => undefined;
}

/** One choice of a Select or RadioGroup. */
export type Choice = string | number | { value: string; label: string };

/** Gives choices in their long form, those without a value left out. */
export function choices(value: unknown, where: string): { value: string; label: string }[] {
  const all: { value: string; label: string }[] = [];
  for (const c of list<unknown>(value, where)) {
    if (typeof c === "string" || typeof c === "number") all.push({ value: String(c), label: String(c) });
    else if (c && typeof c === "object" && "value" in c) {
      const v = text(c.value, where);
      all.push({ value: v, label: "label" in c ? text(c.label, where) || v : v });
    } else if (c !== null && c !== undefined) told(where, "a choice is a string or {value, label}", 'write ["a", "b"]');
  }
  return all;
}
