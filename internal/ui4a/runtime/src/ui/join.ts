/** Gives class names as one text; what is no text is left out. */
export function join(...names: unknown[]): string {
  return names.filter((n) => typeof n === "string" && n !== "").join(" ");
}
