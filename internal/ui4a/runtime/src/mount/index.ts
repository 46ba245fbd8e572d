// Mounts the card of this document and puts newer definitions of it in its place.
import { createElement, type ComponentType } from "react";
import { createRoot } from "react-dom/client";
import type { Registry } from "../registry";

type Factory = (registry: Registry) => ComponentType;

/** Publishes the one entry that a card's script calls. */
export function start(registry: Registry) {
  const root = createRoot(document.getElementById("card") ?? document.body);
  const define = (_meta: unknown, factory: Factory) => root.render(createElement(factory(registry)));
  Object.defineProperty(globalThis, "__ui4a", { value: Object.freeze({ define }) });
}
