// Charts, drawn as SVG
export * from "./chart";
