import { label, number, one, text } from "../ui/check";
import { isSign, withUnit } from "../ui/unit";
import { Cartesian } from "./cartesian";
import { Pie } from "./pie";
import { brief } from "./scale";
import { colour, read, type Read } from "./series";
import { useWidth } from "./width";

export interface ChartProps {
  label: string;
  kind: "bar" | "line" | "area" | "pie" | "donut" | "scatter";
  /** objects, one for each point on x */
  data?: object[];
  /** field of names, or of numbers in a scatter; without data a list of them */
  x: string | (string | number)[];
  /** field of numbers, or several; without data {series: [numbers]}, or [numbers] */
  y: string | Record<string, number[]> | string[] | number[];
  /** shown names of the fields in y */
  names?: Record<string, string>;
  /** before or after each number */
  unit?: string;
  /** series on top of each other */
  stacked?: boolean;
  /** bars from the left */
  horizontal?: boolean;
  /** px; 220 without it */
  height?: number;
}

/** Draws numbers; a table for screen readers is beside it. */
export function Chart(p: ChartProps) {
  const kind = one(p.kind, ["bar", "line", "area", "pie", "donut", "scatter"], "Chart kind");
  const name = label(p.label, "Chart");
  const height = Math.min(800, Math.max(80, number(p.height, 220, "Chart height")));
  const [box, width] = useWidth<HTMLDivElement>(340);
  const r = read(p);
  const unit = text(p.unit, "Chart unit");
  const show = (v: number) => withUnit(brief(v), unit);
  const axis = isSign(unit) ? show : brief; // a longer unit is said once
  const round = kind === "pie" || kind === "donut";
  const legend = round ? r.names : r.series.length > 1 ? r.series.map((s) => s.name) : [];
  const empty = r.names.length === 0 || r.series.length === 0;
  return (
    <figure className="ui-chart">
      <figcaption>
        {name}
        {unit !== "" && !isSign(unit) && !round && <small> ({unit})</small>}
      </figcaption>
      <div ref={box}>
        {empty ? (
          <p className="ui-hint">No data</p>
        ) : (
          <svg role="img" aria-label={`${name}: ${kind} chart`} width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
            {round ? (
              <Pie read={r} width={width} height={height} hole={kind === "donut"} show={show} />
            ) : (
              <Cartesian read={r} width={width} height={height} kind={kind} stacked={!!p.stacked} horizontal={!!p.horizontal && kind === "bar"} show={show} axis={axis} />
            )}
          </svg>
        )}
      </div>
      {legend.length > 0 && !empty && (
        <ul aria-hidden>
          {legend.map((n, i) => (
            <li key={i}>
              <span style={{ background: colour(i) }} />
              {n}
            </li>
          ))}
        </ul>
      )}
      {!empty && <Data read={r} name={name} show={show} />}
    </figure>
  );
}

/** The same numbers for those who do not see the drawing. */
function Data({ read: r, name, show }: { read: Read; name: string; show: (v: number) => string }) {
  return (
    <div className="sr-only">
      <table>
        <caption>{name}</caption>
        <thead>
          <tr>
            <td />
            {r.series.map((s) => (
              <th key={s.key} scope="col">
                {s.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {r.names.slice(0, 200).map((n, i) => (
            <tr key={i}>
              <th scope="row">{n}</th>
              {r.series.map((s) => (
                <td key={s.key}>{s.values[i] === null ? "–" : show(s.values[i]!)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
