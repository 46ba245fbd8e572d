import { call, nodes, one, text, type Children } from "./check";
import { join } from "./join";

export interface ButtonProps {
  /** what it says */
  children?: Children;
  onClick?: () => void;
  tone?: "accent" | "plain" | "ghost" | "danger";
  size?: "m" | "s";
  /** before the text */
  icon?: Children;
  /** needed when there is only an icon */
  label?: string;
  disabled?: boolean;
  type?: "button" | "submit" | "reset";
  /** shows as pressed: a toggle */
  pressed?: boolean;
  className?: string;
}

/** Does something when pressed. */
export function Button(p: ButtonProps) {
  const tone = one(p.tone, ["accent", "plain", "ghost", "danger"], "Button tone");
  const size = one(p.size, ["m", "s"], "Button size");
  const inside = nodes(p.children, "Button");
  const bare = inside === null || inside === undefined || inside === "" || inside === false;
  return (
    <button
      type={one(p.type, ["button", "submit", "reset"], "Button type")}
      className={join("ui-button", tone, size === "s" && "small", bare && "bare", p.className)}
      disabled={!!p.disabled}
      aria-pressed={p.pressed === undefined ? undefined : !!p.pressed}
      aria-label={text(p.label, "Button label") || undefined}
      onClick={() => call<[]>(p.onClick, "Button onClick")()}
    >
      {p.icon !== undefined && <span className="ui-icon-slot">{nodes(p.icon, "Button icon")}</span>}
      {inside}
    </button>
  );
}
