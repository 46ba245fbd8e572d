// Mounts the card of this document and puts newer definitions of it in its place.
import { createElement, type ComponentType } from "react";
import { createRoot } from "react-dom/client";
import { answered, type Receipt } from "../bridge/ask";
import { connect, line, send, sendFree, type Message } from "../bridge/port";
import { isRunning, run } from "../bridge/script";
import { native, pin } from "../prelude/natives";
import { takePictures } from "../pictures";
import { forgetProblems } from "../problem";
import type { Registry } from "../registry";
import { renew, restore } from "../state/store";
import { isBlank } from "./blank";
import { Boundary } from "./boundary";
import { tellHeight, watchHeight } from "./height";
import { Live, type Definition } from "./live";
import { look } from "./look";
import { exportsOf, stable } from "./stable";
import { ofRevision, tellError, watchTrouble } from "./trouble";

interface Meta {
  revision?: string;
  hooks?: Record<string, string>; // signatures by the function's name; the card itself is "default"
  partial?: boolean; // the card is still being written
}
type Factory = (registry: Registry) => ComponentType;

const card = native.createElement(document, "div");
card.id = "card";
native.append(document.body, card);
const root = createRoot(card, { onCaughtError: () => undefined, onUncaughtError: (e) => tellError("render", e) });

let now: Definition | undefined; // on screen
let good: Definition | undefined; // the last that was drawn without an error
let mounts = 0; // counts mounts: another key is another mount, with fresh state

function draw(d: Definition) {
  if (!now || now.hooks !== d.hooks) mounts++;
  now = d;
  const live = createElement(Live, { definition: d, onPaint: painted });
  root.render(createElement(Boundary, { key: mounts, onError: failed, children: live }));
}

/** A definition that throws gives way to the last good one. */
function failed(error: unknown) {
  const bad = now;
  if (!bad?.partial) tellError("render", error);
  now = undefined; // the boundary has given up: what comes next is another mount
  if (good && bad && good !== bad) draw(good);
}

function painted(d: Definition) {
  good = d;
  send(line("painted", [["revision", native.stringify(d.revision)], ["partial", d.partial ? "true" : "false"]]));
  tellHeight(card);
  native.setTimeout(() => {
    if (now !== d || d.partial) return;
    if (isBlank(card)) send(line("blank", [["revision", native.stringify(d.revision)]]));
    else look(card, d.revision);
  }, 400);
}

/** Publishes the one entry that a card's script calls, and waits for the host. */
export function start(registry: Registry) {
  for (const name of Object.keys(registry)) Object.freeze(registry[name]);
  const library = exportsOf(registry);
  const define = (meta: Meta, factory: Factory) => {
    if (!isRunning()) throw new Error("a card cannot define itself anew");
    const hooks = meta.hooks ?? {};
    ofRevision(meta.revision ?? "");
    forgetProblems();
    const component = factory(stable(registry, library, hooks));
    draw({ revision: meta.revision ?? "", hooks: hooks.default ?? "", partial: !!meta.partial, component });
  };
  pin(globalThis, "__ui4a", Object.freeze({ define }));
  watchTrouble();
  watchHeight(card);
  connect(handle);
}

function handle(m: Message) {
  switch (m.t) {
    case "init":
      restore("state", m.state as Record<string, unknown>);
      restore("private", m.private as Record<string, unknown>);
      theme(m.theme as Record<string, string>);
      return;
    case "card":
      return run(m.script as string, (ran) => ran || tellError("script", "the script cannot be run"));
    case "state":
      return renew(m.state as Record<string, unknown>);
    case "pictures":
      return takePictures(m.pictures as Record<string, string>);
    case "theme":
      return theme(m.theme as Record<string, string>);
    case "receipt":
      return answered(m.n as number, m.receipt as Receipt);
    case "ping":
      return sendFree(line("pong", [["n", `${m.n as number}`]]));
  }
}

/** Sets light or dark, and the colours that the host has chosen. */
function theme(t: Record<string, string>) {
  for (const [name, value] of Object.entries(t)) {
    if (name === "scheme") document.documentElement.dataset.theme = value;
    else document.documentElement.style.setProperty(`--${name}`, value);
  }
}
