// Controls with labels and keyboard behaviour, and boxes to put things in
export * from "./layout";
export * from "./card";
export * from "./button";
export * from "./form";
export * from "./field";
export * from "./numbers";
export * from "./toggles";
export * from "./tabs";
export * from "./reveal";
export * from "./table";
export * from "./show";
