import { useLayoutEffect, useRef, useState, type RefObject } from "react";

/** Tells whether an element is wider inside than outside: then it scrolls, and keys must reach it. */
export function useOverflow<E extends HTMLElement>(): [RefObject<E | null>, boolean] {
  const ref = useRef<E>(null);
  const [overflows, setOverflows] = useState(false);
  useLayoutEffect(() => {
    const e = ref.current;
    if (!e) return;
    const look = () => setOverflows(e.scrollWidth > e.clientWidth + 1);
    look();
    const watch = new ResizeObserver(look);
    watch.observe(e);
    if (e.firstElementChild) watch.observe(e.firstElementChild);
    return () => watch.disconnect();
  }, []);
  return [ref, overflows];
}
