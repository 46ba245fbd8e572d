// Icons of lucide, by their names there; 20 px wide unless size says otherwise
export * from "./glyphs";
