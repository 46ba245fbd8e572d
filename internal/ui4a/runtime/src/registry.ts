// What a card may import, by import name. A card's script gets this object and nothing else.
import * as react from "react";
import * as jsx from "react/jsx-runtime";
import * as charts from "./charts";
import * as chat from "./chat";
import { icons } from "./icons/fallback";
import * as katex from "./katex";
import * as state from "./state";
import * as ui from "./ui";

export type Registry = Readonly<Record<string, object>>;

export const registry: Registry = Object.freeze(
  Object.assign(Object.create(null), {
    react,
    "react/jsx-runtime": jsx,
    "$ui4a/ui": ui,
    "$ui4a/charts": charts,
    "$ui4a/icons": icons,
    "$ui4a/state": state,
    "$ui4a/chat": chat,
    "$ui4a/katex": katex,
  }),
);
