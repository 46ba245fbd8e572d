// An icon of an unknown name is an empty square and a problem told, not a crash.
import { report } from "../problem";
import { blank } from "./icon";
import * as glyphs from "./glyphs";
import { near } from "./near";

const known: Readonly<Record<string, unknown>> = glyphs;
const blanks = new Map<string, unknown>(); // one component for each name, so that React keeps it
const most = 200;

/** All icons by name, and an empty square for every other name that looks like one. */
export const icons: object = new Proxy(Object.freeze({ ...known }), {
  get(target: Readonly<Record<string, unknown>>, name) {
    if (typeof name !== "string" || Object.hasOwn(target, name) || !/^[A-Z]\w{0,63}$/.test(name)) {
      return Object.hasOwn(target, name) ? target[name as string] : undefined;
    }
    const nearest = near(name, Object.keys(known));
    report({
      code: "unknown-icon",
      message: `unknown icon ${name}` + (nearest.length > 0 ? `, near: ${nearest.join(", ")}` : ""),
      fix: nearest.length > 0 ? `import ${nearest[0]} instead` : "leave it out, or import another icon",
    });
    if (!blanks.has(name) && blanks.size < most) blanks.set(name, blank(name));
    return blanks.get(name) ?? known.Square;
  },
});
