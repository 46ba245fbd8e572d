// Formulas in the language of TeX, drawn as MathML
export * from "./formula";
