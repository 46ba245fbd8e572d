// The whole runtime, in the order in which it runs: the prelude takes away what a card
// must not have before any other statement; then the bridge and what cards import.
import "./prelude";
import { start } from "./mount";
import { registry } from "./registry";

document.currentScript?.remove(); // its text is no card's business
start(registry);
