// Components of a card keep their state over its revisions: every definition brings new
// functions, and React would take each for another component. So each gets a stand-in
// that stays, found by the function's name and the signature of its hooks, which calls
// the newest function of that name.
import { createElement, type ReactNode } from "react";
import * as jsx from "react/jsx-runtime";
import { isPicture, Picture } from "../pictures";
import type { Registry } from "../registry";

type Body = (props: object) => ReactNode;
interface StandIn {
  newest: Body;
  component: Body;
}

const standIns = new Map<string, StandIn>();
const most = 500;

/** The registry for one definition: elements of the card's own components are made of their stand-ins. */
export function stable(registry: Registry, library: WeakSet<object>, hooks: Record<string, string>): Registry {
  const seen = new Map<string, Body | null>(); // by name; null: two functions have it, both stay themselves
  const of = (type: unknown) => {
    const body = type as Body & { prototype?: { isReactComponent?: unknown } };
    if (typeof body !== "function" || library.has(body) || !body.name || body.prototype?.isReactComponent) return type;
    const known = seen.get(body.name);
    if (known === null) return type;
    if (known !== undefined && known !== body) {
      seen.set(body.name, null); // made anew while drawing: not a component of the module
      return type;
    }
    seen.set(body.name, body);
    return standIn(`${body.name} ${hooks[body.name] ?? ""}`, body);
  };
  const drawn = (type: unknown, props: unknown) => (isPicture(type, props) ? Picture : of(type));
  const react = { ...registry.react, createElement: (type: never, ...rest: never[]) => createElement(drawn(type, rest[0]) as never, ...rest) };
  const runtime = {
    Fragment: jsx.Fragment,
    jsx: (type: never, props: never, key: never) => jsx.jsx(drawn(type, props) as never, props, key),
    jsxs: (type: never, props: never, key: never) => jsx.jsxs(drawn(type, props) as never, props, key),
  };
  return Object.freeze(Object.assign(Object.create(null), registry, { react: Object.freeze(react), "react/jsx-runtime": Object.freeze(runtime) }));
}

function standIn(name: string, body: Body): Body {
  const known = standIns.get(name);
  if (known) {
    known.newest = body;
    return known.component;
  }
  if (standIns.size >= most) return body;
  const made: StandIn = { newest: body, component: (props) => made.newest(props) };
  standIns.set(name, made);
  return made.component;
}

/** Everything that the library exports: functions that stay as they are. */
export function exportsOf(registry: Registry): WeakSet<object> {
  const all = new WeakSet<object>();
  for (const name of Object.keys(registry)) {
    for (const value of Object.values(registry[name])) if (typeof value === "function" || (typeof value === "object" && value)) all.add(value);
  }
  return all;
}
