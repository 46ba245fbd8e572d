import { useCallback, useSyncExternalStore } from "react";
import { read, set, subscribe } from "./store";

type Set<T> = (next: T | ((now: T) => T)) => void;

/** useState whose value stays when the card is opened again, and which Actions can read; the key is a string literal. */
export function usePersistedState<T>(key: string, initial: T | (() => T)): [T, Set<T>] {
  const value = useSyncExternalStore(subscribe, () => read("state", key, initial)) as T;
  const change = useCallback<Set<T>>((next) => {
    set("state", key, typeof next === "function" ? (next as (now: T) => T)(read("state", key, initial) as T) : next);
  }, [key]);
  return [value, change];
}
