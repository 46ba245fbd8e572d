// Pictures of the conversation: <img src="asset:NAME"> shows the bytes that the host has
// handed over under that name. Nothing is loaded for it.
import { createElement, useEffect, useSyncExternalStore, type ImgHTMLAttributes } from "react";
import { native } from "../prelude/natives";
import { report } from "../problem";

const scheme = "asset:";
const patience = 1500; // milliseconds in which a picture may yet come

let known: Record<string, string> = {}; // data: addresses by name
const listeners = new Set<() => void>();

/** Takes the pictures that the host has for the card. */
export function takePictures(pictures: Record<string, string>) {
  known = Object.assign(Object.create(null), pictures);
  for (const l of listeners) l();
}

function subscribe(l: () => void): () => void {
  listeners.add(l);
  return () => void listeners.delete(l);
}

/** Whether an element is a picture of the conversation. */
export function isPicture(type: unknown, props: unknown): boolean {
  const src = type === "img" && (props as { src?: unknown } | null)?.src;
  return typeof src === "string" && src.startsWith(scheme);
}

/** Draws one: without an address as long as it is not there. */
export function Picture(props: ImgHTMLAttributes<HTMLImageElement>) {
  const name = props.src!.slice(scheme.length);
  const data = useSyncExternalStore(subscribe, () => known[name]);
  useEffect(() => {
    if (data) return;
    const timer = native.setTimeout(() => {
      const there = Object.keys(known).map((n) => scheme + n).join(", ");
      report({ code: "no-picture", message: `there is no picture "${name.slice(0, 80)}"`, fix: there ? `use one of ${there}` : "leave it away, or draw it as <svg>" });
    }, patience);
    return () => clearTimeout(timer);
  }, [data, name]);
  return createElement("img", { ...props, src: data });
}
