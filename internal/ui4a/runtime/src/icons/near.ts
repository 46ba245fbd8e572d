/** Gives the names nearest to a name by edits, at most three, none further than half of it; library.Near in Go decides alike. */
export function near(name: string, names: readonly string[]): string[] {
  const far = Math.ceil(name.length / 2);
  return names
    .map((n) => ({ n, d: distance(name.toLowerCase(), n.toLowerCase()) }))
    .filter(({ d }) => d <= far)
    .sort((a, b) => a.d - b.d || (a.n < b.n ? -1 : 1))
    .slice(0, 3)
    .map(({ n }) => n);
}

function distance(a: string, b: string): number {
  const edits = levenshtein(a, b);
  return Math.min(a.length, b.length) > 2 && (a.includes(b) || b.includes(a)) ? Math.min(2, edits) : edits;
}

function levenshtein(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length]!;
}
