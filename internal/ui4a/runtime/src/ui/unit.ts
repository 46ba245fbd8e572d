/** Puts a unit to a number that is written already: currency signs stand before it, % and ° right behind it, words behind a space. */
export function withUnit(written: string, unit: string): string {
  if (unit === "") return written;
  if (/^[$€£¥₹]$/.test(unit)) return written.startsWith("-") ? `-${unit}${written.slice(1)}` : unit + written;
  return /^[%°]/.test(unit) ? written + unit : `${written} ${unit}`;
}

/** Says whether a unit is short enough to stand at every number of an axis. */
export const isSign = (unit: string) => /^[$€£¥₹%°]$/.test(unit);
