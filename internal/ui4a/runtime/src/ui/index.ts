// Controls with labels and keyboard behaviour, and boxes to put things in
export * from "./button";
export * from "./layout";
export * from "./card";
