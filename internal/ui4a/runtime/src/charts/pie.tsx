import { px } from "./scale";
import { colour, type Read } from "./series";

interface Props {
  read: Read;
  width: number;
  height: number;
  hole: boolean;
  show: (v: number) => string;
}

/** Parts of a whole, from the top clockwise; the first series alone. */
export function Pie({ read: r, width, height, hole, show }: Props) {
  const values = (r.series[0]?.values ?? []).map((v) => Math.max(0, v ?? 0));
  const sum = values.reduce((a, b) => a + b, 0);
  const radius = Math.min(width, height) / 2 - 4;
  let at = 0;
  return (
    <g transform={`translate(${px(width / 2)} ${px(height / 2)})`}>
      {values.map((v, i) => {
        const from = at;
        at += sum === 0 ? 0 : v / sum;
        const percent = sum === 0 ? 0 : Math.round((100 * v) / sum);
        return (
          <path key={i} d={slice(from, at, radius, hole ? radius * 0.6 : 0)} fill={colour(i)} stroke="var(--surface)" strokeWidth={1.5}>
            <title>{`${r.names[i]}: ${show(v)} (${percent}%)`}</title>
          </path>
        );
      })}
      {hole && (
        <text className="ui-chart-total" textAnchor="middle" dy="0.35em">
          {show(sum)}
        </text>
      )}
    </g>
  );
}

/** The outline between two parts of the turn, 0 to 1. */
function slice(from: number, to: number, radius: number, inner: number): string {
  // A whole turn has no two different ends: it is drawn a hair short of it.
  const end = to - from >= 1 ? from + 0.9999 : to;
  const point = (turn: number, r: number) => `${px(r * Math.sin(2 * Math.PI * turn))} ${px(-r * Math.cos(2 * Math.PI * turn))}`;
  const large = end - from > 0.5 ? 1 : 0;
  const outer = `M${point(from, radius)}A${px(radius)} ${px(radius)} 0 ${large} 1 ${point(end, radius)}`;
  if (inner === 0) return `${outer}L0 0Z`;
  return `${outer}L${point(end, inner)}A${px(inner)} ${px(inner)} 0 ${large} 0 ${point(from, inner)}Z`;
}
