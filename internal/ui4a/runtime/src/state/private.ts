import { useCallback, useSyncExternalStore } from "react";
import { read, set, subscribe } from "./store";

type Set<T> = (next: T | ((now: T) => T)) => void;

/** usePersistedState for a value that no model may see (NoAI); then only literal texts and declared state are sent. */
export function usePrivateState<T>(key: string, initial: T | (() => T)): [T, Set<T>] {
  const value = useSyncExternalStore(subscribe, () => read("private", key, initial)) as T;
  const change = useCallback<Set<T>>((next) => {
    set("private", key, typeof next === "function" ? (next as (now: T) => T)(read("private", key, initial) as T) : next);
  }, [key]);
  return [value, change];
}
