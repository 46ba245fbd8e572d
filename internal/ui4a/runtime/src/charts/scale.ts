// From values to pixels.

/** Gives round numbers that span low to high, about n steps apart. */
export function ticks(low: number, high: number, n: number): number[] {
  if (!(high > low)) high = low + 1;
  const rough = (high - low) / Math.max(1, n);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? 10 * power;
  const first = Math.floor(low / step + 1e-9);
  const last = Math.ceil(high / step - 1e-9);
  return Array.from({ length: Math.min(50, last - first + 1) }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** Maps [from, to] to [a, b]. */
export function linear(from: number, to: number, a: number, b: number): (v: number) => number {
  const span = to - from || 1;
  return (v) => a + ((v - from) / span) * (b - a);
}

/** A number for an axis, short. */
export const brief = (v: number) => v.toLocaleString(undefined, { notation: Math.abs(v) >= 10_000 ? "compact" : "standard", maximumFractionDigits: 2 });

/** A coordinate; a hundredth of a pixel is enough. */
export const px = (v: number) => Math.round(v * 100) / 100;

/** About how wide a text of the axis is, in px; letters of Chinese, Japanese and Korean are square. */
export const width = (s: string) => [...s].reduce((sum, c) => sum + (c >= "\u2e80" ? 12 : 7), 0);

/** A text without as much of its end as makes it fit, but for three letters. */
export function cut(s: string, room: number): string {
  const all = [...s];
  if (width(s) <= room) return s;
  while (all.length > 3 && width(all.join("")) + 7 > room) all.pop();
  return all.length < s.length ? `${all.join("")}…` : s;
}
