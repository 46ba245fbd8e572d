import type { PlotProps } from "./cartesian";
import { cut, linear, px, width as wide } from "./scale";
import { colour } from "./series";

/** Bars from the left, each with its name before and its number behind it: for long names. */
export function Horizontal(p: PlotProps & { parts: [number, number][][]; low: number; high: number }) {
  const { read: r } = p;
  const left = Math.min(p.width * 0.4, 10 + Math.max(...r.names.map(wide)));
  const numbers = Math.max(wide(p.show(p.high)), wide(p.show(p.low))) + 8;
  const x = linear(p.low, p.high, left, Math.max(left + 20, p.width - numbers));
  const band = p.height / r.names.length;
  const beside = p.stacked ? 1 : r.series.length;
  const one = Math.min(36, (band * 0.8) / beside);
  return (
    <>
      {r.names.map((n, i) => (
        <text key={i} x={left - 6} y={px(band * (i + 0.5))} dy="0.35em" textAnchor="end">
          {cut(n, left - 8)}
        </text>
      ))}
      {r.series.map((s, k) =>
        s.values.map((v, i) => {
          if (v === null) return null;
          const [from, to] = p.parts[k]![i]!;
          const top = band * (i + 0.5) + (p.stacked ? -one / 2 : (k - beside / 2) * one);
          const end = Math.max(x(from), x(to));
          return (
            <g key={`${s.key} ${i}`}>
              <rect x={px(Math.min(x(from), x(to)))} y={px(top)} width={px(Math.max(1, Math.abs(x(to) - x(from))))} height={px(Math.max(1, one - 1))} rx={2} fill={colour(k)}>
                <title>{`${r.names[i]}, ${s.name}: ${p.show(v)}`}</title>
              </rect>
              {!p.stacked && one >= 11 && (
                <text x={px(end + 5)} y={px(top + one / 2)} dy="0.35em">
                  {p.show(v)}
                </text>
              )}
            </g>
          );
        }),
      )}
    </>
  );
}

