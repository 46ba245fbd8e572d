import { nodes, one, text, type Children } from "./check";
import { join } from "./join";

export interface CardProps {
  children?: Children;
  title?: string;
  /** one line below the title */
  subtitle?: string;
  /** beside the title */
  icon?: Children;
  /** right of the title */
  action?: Children;
  /** below a line, for buttons */
  footer?: Children;
  className?: string;
}

/** A bordered box with a heading. */
export function Card(p: CardProps) {
  const title = text(p.title, "Card title");
  const subtitle = text(p.subtitle, "Card subtitle");
  return (
    <section className={join("ui-card", p.className)} aria-label={title || undefined}>
      {(title !== "" || p.icon !== undefined || p.action !== undefined) && (
        <header>
          {p.icon !== undefined && <span className="ui-icon-slot">{nodes(p.icon, "Card icon")}</span>}
          <div>
            {title !== "" && <h2>{title}</h2>}
            {subtitle !== "" && <p>{subtitle}</p>}
          </div>
          {nodes(p.action, "Card action")}
        </header>
      )}
      {nodes(p.children, "Card")}
      {p.footer !== undefined && <footer>{nodes(p.footer, "Card footer")}</footer>}
    </section>
  );
}

const tones = ["plain", "accent", "success", "warn", "danger"] as const;

export interface BadgeProps {
  children?: Children;
  tone?: "plain" | "accent" | "success" | "warn" | "danger";
}

/** A short word in a small box: a state, a count. */
export function Badge(p: BadgeProps) {
  return <span className={join("ui-badge", one(p.tone, tones, "Badge tone"))}>{nodes(p.children, "Badge")}</span>;
}
