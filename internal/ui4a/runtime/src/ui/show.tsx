import { useState } from "react";
import { label, nodes, number, one, text, type Children } from "./check";
import { join } from "./join";

export interface StatProps {
  label: string;
  value: string | number;
  unit?: string;
  /** the change; a number below zero is bad, above is good, unless tone says otherwise */
  delta?: string | number;
  tone?: "plain" | "success" | "warn" | "danger";
  icon?: Children;
}

/** One figure with its name. */
export function Stat(p: StatProps) {
  const unit = text(p.unit, "Stat unit");
  const value = typeof p.value === "number" ? p.value.toLocaleString() : text(p.value, "Stat value");
  const delta = typeof p.delta === "number" ? (p.delta > 0 ? "+" : "") + p.delta.toLocaleString() : text(p.delta, "Stat delta");
  const tone = p.tone === undefined ? direction(delta) : one(p.tone, ["plain", "success", "warn", "danger"], "Stat tone");
  return (
    <div className="ui-stat">
      <span className="ui-hint">
        {p.icon !== undefined && <span className="ui-icon-slot">{nodes(p.icon, "Stat icon")}</span>}
        {label(p.label, "Stat")}
      </span>
      <strong>
        {value || "–"}
        {unit !== "" && <small> {unit}</small>}
      </strong>
      {delta !== "" && <span className={`ui-tone ${tone}`}>{delta}</span>}
    </div>
  );
}

const direction = (delta: string) => (/^[-−↓]/.test(delta) ? "danger" : /^[+↑]/.test(delta) ? "success" : "plain");

export interface ProgressProps {
  label: string;
  value: number;
  /** 100 without it */
  max?: number;
  tone?: "accent" | "success" | "warn" | "danger";
}

/** How much of something is done. */
export function Progress(p: ProgressProps) {
  const name = label(p.label, "Progress");
  const max = number(p.max, 100, "Progress max") || 100;
  const value = Math.min(max, Math.max(0, number(p.value, 0, "Progress value")));
  const percent = Math.round((100 * value) / max);
  return (
    <div className={`ui-progress ${one(p.tone, ["accent", "success", "warn", "danger"], "Progress tone")}`}>
      <div className="ui-label">
        <span>{name}</span>
        <span>{percent}%</span>
      </div>
      <div role="progressbar" aria-label={name} aria-valuemin={0} aria-valuemax={max} aria-valuenow={value} aria-valuetext={`${percent}%`}>
        <div style={{ width: `${percent}%` }} />
      </div>
    </div>
  );
}

export interface AlertProps {
  children?: Children;
  tone?: "accent" | "success" | "warn" | "danger";
  title?: string;
}

/** Says something that should not be missed. */
export function Alert(p: AlertProps) {
  const tone = one(p.tone, ["accent", "success", "warn", "danger"], "Alert tone");
  const title = text(p.title, "Alert title");
  return (
    <div className={`ui-alert ${tone}`} role={tone === "danger" ? "alert" : "status"}>
      {title !== "" && <strong>{title}</strong>}
      <div>{nodes(p.children, "Alert")}</div>
    </div>
  );
}

export interface AvatarProps {
  name: string;
  /** a data: or blob: address; initials without it */
  src?: string;
  size?: "m" | "s" | "l";
}

/** A person by picture or initials. */
export function Avatar(p: AvatarProps) {
  const name = label(p.name, "Avatar");
  const src = text(p.src, "Avatar src");
  const [broken, setBroken] = useState("");
  const look = join("ui-avatar", one(p.size, ["m", "s", "l"], "Avatar size"));
  if (src !== "" && src !== broken) return <img className={look} src={src} alt={name} onError={() => setBroken(src)} />;
  const words = name.split(/\s+/).filter((w) => w !== "");
  const initials = [words[0], words.length > 1 ? words[words.length - 1] : undefined].map((w) => [...(w ?? "")][0] ?? "").join("");
  return (
    <span className={look} role="img" aria-label={name}>
      {initials.toUpperCase()}
    </span>
  );
}
