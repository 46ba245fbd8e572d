import { Horizontal } from "./horizontal";
import { brief, cut, linear, px, ticks, width as wide } from "./scale";
import { colour, stack, type Read } from "./series";

export interface PlotProps {
  read: Read;
  width: number;
  height: number;
  kind: "bar" | "line" | "area" | "scatter";
  stacked: boolean;
  horizontal: boolean;
  show: (v: number) => string;
  axis: (v: number) => string;
}

/** Gives the lowest and highest value that has to fit; bars and areas begin at zero. */
function extent(p: PlotProps, parts: [number, number][][]): [number, number] {
  const all = p.read.series.flatMap((s, k) => s.values.map((v, i) => (v === null ? null : parts[k]![i]![1])));
  const values = all.filter((v): v is number => v !== null);
  if (values.length === 0) return [0, 1];
  const low = Math.min(...values);
  const high = Math.max(...values);
  if (p.kind === "bar" || p.kind === "area") return [Math.min(0, low), Math.max(0, high)];
  return low > 0 && low < (high - low) * 2 ? [0, high] : [low, high];
}

/** Draws what has two axes. */
export function Cartesian(p: PlotProps) {
  const parts = stack(p.read, p.stacked && (p.kind === "bar" || p.kind === "area"));
  const [low, high] = extent(p, parts);
  if (p.horizontal) return <Horizontal {...p} parts={parts} low={low} high={high} />;
  const marks = ticks(low, high, Math.max(2, Math.round(p.height / 55)));
  const left = Math.min(p.width / 3, 10 + Math.max(...marks.map((m) => wide(p.axis(m)))));
  const plot = { left, right: p.width - 8, top: 8, bottom: p.height - 24 };
  const y = linear(marks[0]!, marks[marks.length - 1]!, plot.bottom, plot.top);
  return (
    <>
      {marks.map((m) => (
        <g key={m}>
          <line className="ui-chart-grid" x1={plot.left} x2={plot.right} y1={px(y(m))} y2={px(y(m))} />
          <text x={plot.left - 6} y={px(y(m))} dy="0.35em" textAnchor="end">
            {p.axis(m)}
          </text>
        </g>
      ))}
      {p.kind === "scatter" ? <Scatter {...p} plot={plot} y={y} /> : <Ordinal {...p} plot={plot} y={y} parts={parts} />}
    </>
  );
}

interface Plot {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Names along x, as many as have room. */
function Names({ names, at, plot, band }: { names: string[]; at: (i: number) => number; plot: Plot; band: number }) {
  const longest = Math.max(...names.map(wide));
  const every = Math.max(1, Math.ceil((Math.min(longest, 90) + 8) / Math.max(1, band)));
  const all = names.map((n, i) => placed(i, cut(n, band * every), at(i), plot)).filter((n) => n.i % every === 0);
  let free = -Infinity; // of x, behind the last name
  return (
    <>
      {all.map((n) => {
        if (n.from < free) return null; // the one before is turned towards it, or it towards that one
        free = n.from + n.width + 4;
        return (
          <text key={n.i} x={px(n.x)} y={plot.bottom + 17} textAnchor={n.anchor}>
            {n.text}
          </text>
        );
      })}
    </>
  );
}

/** Where a name stands; one at the edge is turned inwards. */
function placed(i: number, text: string, at: number, plot: Plot) {
  const width = wide(text);
  const x = Math.min(Math.max(at, plot.left + 4), plot.right - 4);
  if (at + width / 2 > plot.right + 8) return { i, text, x, width, from: x - width, anchor: "end" as const };
  if (at - width / 2 < 0) return { i, text, x, width, from: x, anchor: "start" as const };
  return { i, text, x, width, from: x - width / 2, anchor: "middle" as const };
}

function Ordinal(p: PlotProps & { plot: Plot; y: (v: number) => number; parts: [number, number][][] }) {
  const { read: r, plot, y, parts } = p;
  const n = r.names.length;
  const bars = p.kind === "bar";
  const band = (plot.right - plot.left) / (bars ? n : Math.max(1, n - 1));
  const at = (i: number) => (bars ? plot.left + band * (i + 0.5) : n === 1 ? (plot.left + plot.right) / 2 : plot.left + band * i);
  return (
    <>
      {r.series.map((s, k) => {
        if (bars) return <Bars key={s.key} {...p} k={k} at={at} band={band} />;
        const dots = s.values.map((v, i) => (v === null ? null : ([px(at(i)), px(y(parts[k]![i]![1])), v, i] as const)));
        return (
          <g key={s.key}>
            {p.kind === "area" && <path d={under(dots, (i) => px(y(parts[k]![i]![0])))} fill={colour(k)} fillOpacity={0.25} />}
            <path d={line(dots)} fill="none" stroke={colour(k)} strokeWidth={2} strokeLinejoin="round" />
            {dots.map(
              (d) =>
                d && (
                  <circle key={d[3]} cx={d[0]} cy={d[1]} r={n > 40 ? 6 : 3} fill={colour(k)} fillOpacity={n > 40 ? 0 : 1}>
                    <title>{`${r.names[d[3]]}, ${s.name}: ${p.show(d[2])}`}</title>
                  </circle>
                ),
            )}
          </g>
        );
      })}
      <Names names={r.names} at={at} plot={plot} band={band} />
    </>
  );
}

type Dot = readonly [x: number, y: number, value: number, index: number] | null;

/** A line through the dots; a missing one is a gap. */
function line(dots: Dot[]): string {
  return dots.map((d, i) => (d === null ? "" : `${dots[i - 1] ? "L" : "M"}${d[0]} ${d[1]}`)).join("");
}

/** The area between the dots and what is below them. */
function under(dots: Dot[], floor: (i: number) => number): string {
  const there = dots.filter((d) => d !== null);
  if (there.length === 0) return "";
  const top = there.map((d) => `${d[0]} ${d[1]}`).join("L");
  return `M${top}L${[...there].reverse().map((d) => `${d[0]} ${floor(d[3])}`).join("L")}Z`;
}

function Bars(p: PlotProps & { y: (v: number) => number; parts: [number, number][][]; k: number; at: (i: number) => number; band: number }) {
  const s = p.read.series[p.k]!;
  const beside = p.stacked ? 1 : p.read.series.length;
  const one = Math.min(48, (p.band * 0.8) / beside);
  const shift = p.stacked ? -one / 2 : (p.k - beside / 2) * one;
  return (
    <g>
      {s.values.map((v, i) => {
        if (v === null) return null;
        const [from, to] = p.parts[p.k]![i]!;
        const top = Math.min(p.y(from), p.y(to));
        return (
          <rect key={i} x={px(p.at(i) + shift)} y={px(top)} width={px(Math.max(1, one - 1))} height={px(Math.max(0.5, Math.abs(p.y(from) - p.y(to))))} rx={2} fill={colour(p.k)}>
            <title>{`${p.read.names[i]}, ${s.name}: ${p.show(v)}`}</title>
          </rect>
        );
      })}
    </g>
  );
}

/** Points at numbers on both axes. */
function Scatter(p: PlotProps & { plot: Plot; y: (v: number) => number }) {
  const xs = p.read.names.map(Number);
  const good = xs.filter((v) => Number.isFinite(v));
  const marks = ticks(Math.min(...good), Math.max(...good), Math.max(2, Math.round(p.width / 90)));
  const x = linear(marks[0]!, marks[marks.length - 1]!, p.plot.left + 6, p.plot.right - 6);
  if (good.length === 0) return null;
  return (
    <>
      {marks.map((m) => (
        <text key={m} x={px(x(m))} y={p.plot.bottom + 17} textAnchor="middle">
          {brief(m)}
        </text>
      ))}
      {p.read.series.map((s, k) =>
        s.values.map((v, i) =>
          v === null || !Number.isFinite(xs[i]!) ? null : (
            <circle key={`${s.key} ${i}`} cx={px(x(xs[i]!))} cy={px(p.y(v))} r={4} fill={colour(k)} fillOpacity={0.75}>
              <title>{`${brief(xs[i]!)}, ${s.name}: ${p.show(v)}`}</title>
            </circle>
          ),
        ),
      )}
    </>
  );
}
