// Storage of an opaque origin throws when it is touched, and a card that only wanted to
// remember a filter would be blank. It gets storage that lasts as long as the document.
import { pin } from "./natives";

function memory(): Storage {
  const kept = new Map<string, string>();
  const api = {
    get length() {
      return kept.size;
    },
    key: (i: number) => [...kept.keys()][i] ?? null,
    getItem: (k: string) => kept.get(String(k)) ?? null,
    setItem: (k: string, v: string) => void kept.set(String(k), String(v)),
    removeItem: (k: string) => void kept.delete(String(k)),
    clear: () => kept.clear(),
  };
  return Object.freeze(api) as Storage;
}

for (const name of ["localStorage", "sessionStorage"]) pin(window, name, memory());
Object.defineProperty(document, "cookie", { get: () => "", set: () => undefined, configurable: false });
