import { createContext, useContext, useLayoutEffect, useState } from "react";
import { report } from "../problem";
import { call, text } from "./check";

/** The values of a form's controls by their labels; null outside of forms. */
export const Values = createContext<Map<string, unknown> | null>(null);

/**
 * Gives the value of a control and what changes it. The card keeps the value when it
 * gives both value and onChange; otherwise the control keeps it, so that it works anyway.
 * A form around it learns the value under the control's label.
 */
export function useControlled<T>(label: unknown, value: T | undefined, onChange: unknown, instead: T, component: string, prop = "value"): [T, (next: T) => void] {
  const [own, setOwn] = useState(value ?? instead);
  const form = useContext(Values);
  const name = text(label, `${component} label`);
  const kept = value !== undefined && value !== null && typeof onChange === "function";
  if (value !== undefined && value !== null && onChange === undefined) {
    report({ code: "prop", message: `${component}: ${prop} without onChange`, fix: `write onChange={set…}, or leave ${prop} out` });
  }
  const set = (next: T) => {
    if (!kept) setOwn(next);
    call<[T]>(onChange, `${component} onChange`)(next);
  };
  const current = kept ? value : own;
  useLayoutEffect(() => void form?.set(name, current));
  useLayoutEffect(() => () => void form?.delete(name), [form, name]);
  return [current, set];
}
