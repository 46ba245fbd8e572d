import { useLayoutEffect, useRef, useState, type RefObject } from "react";

/** Gives the width of an element in px as it changes: text in a chart keeps its size. */
export function useWidth<E extends HTMLElement>(first: number): [RefObject<E | null>, number] {
  const ref = useRef<E>(null);
  const [width, setWidth] = useState(first);
  useLayoutEffect(() => {
    const e = ref.current;
    if (!e) return;
    const look = () => e.clientWidth > 0 && setWidth(e.clientWidth);
    look();
    const watch = new ResizeObserver(look);
    watch.observe(e);
    return () => watch.disconnect();
  }, []);
  return [ref, width];
}
