import { useState } from "react";
import { report } from "../problem";
import { call } from "./check";

/**
 * Gives the value of a control and what changes it. The card keeps the value when it
 * gives both value and onChange; otherwise the control keeps it, so that it works anyway.
 */
export function useControlled<T>(value: T | undefined, onChange: unknown, instead: T, component: string, prop = "value"): [T, (next: T) => void] {
  const [own, setOwn] = useState(value ?? instead);
  const kept = value !== undefined && value !== null && typeof onChange === "function";
  if (value !== undefined && value !== null && onChange === undefined) {
    report({ code: "prop", message: `${component}: ${prop} without onChange`, fix: `write onChange={set…}, or leave ${prop} out` });
  }
  const set = (next: T) => {
    if (!kept) setOwn(next);
    call<[T]>(onChange, `${component} onChange`)(next);
  };
  return [kept ? value : own, set];
}
