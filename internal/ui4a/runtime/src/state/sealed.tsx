import { useEffect, useId, useRef } from "react";
import { sealedInput } from "./seal";

export interface PrivateFieldProps {
  /** the key under which an Action reads it: a string literal */
  name: string;
  label: string;
  type?: "text" | "password" | "number" | "email" | "tel";
  placeholder?: string;
  /** told when something comes to be in it, or nothing any more */
  onFilled?: (filled: boolean) => void;
  className?: string;
}

/** An input whose value neither the card nor a model sees; an Action that reads its name hands it to the host. */
export function PrivateField(p: PrivateFieldProps) {
  const place = useRef<HTMLDivElement>(null);
  const filled = useRef(p.onFilled);
  filled.current = p.onFilled;
  const id = useId();
  useEffect(() => {
    if (place.current) return sealedInput(place.current, p, (full) => filled.current?.(full));
  }, [p.name, p.label, p.type, p.placeholder]);
  return (
    <div className={p.className ? `ui-private ${p.className}` : "ui-private"}>
      <span id={id} className="ui-label">{p.label}</span>
      <div ref={place} aria-labelledby={id} />
    </div>
  );
}
