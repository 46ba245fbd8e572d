// State of the card that the host keeps: over reloads, and to be read by Actions
export * from "./persisted";
export * from "./private";
export * from "./sealed";
