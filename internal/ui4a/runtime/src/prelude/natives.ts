// What the runtime itself uses, taken before a card can put something else in its place.

type Method<T, A extends unknown[], R> = (self: T, ...args: A) => R;

const { apply, getOwnPropertyDescriptor, defineProperty } = Reflect;

/** The function of a prototype, as one that takes its object first. */
function method<T, A extends unknown[], R>(proto: object, name: string): Method<T, A, R> {
  const f = getOwnPropertyDescriptor(proto, name)!.value;
  return (self, ...args) => apply(f, self, args);
}

/** The getter of a property. */
function getter<T, R>(proto: object, name: string): (self: T) => R {
  const f = getOwnPropertyDescriptor(proto, name)!.get!;
  return (self) => apply(f, self, []);
}

/** The setter of a property. */
function setter<T, V>(proto: object, name: string): (self: T, value: V) => void {
  const f = getOwnPropertyDescriptor(proto, name)!.set!;
  return (self, value) => apply(f, self, [value]);
}

/** Sets a property for good: neither written nor configured again. */
export function pin(object: object, name: PropertyKey, value: unknown) {
  defineProperty(object, name, { value, writable: false, configurable: false, enumerable: true });
}

export const native = {
  apply,
  parent: window.parent,
  document,
  stringify: JSON.stringify,
  parse: JSON.parse,
  now: performance.now.bind(performance),
  setTimeout: setTimeout.bind(window),
  Blob,
  URL,
  createObjectURL: URL.createObjectURL,
  revokeObjectURL: URL.revokeObjectURL,
  createElement: method<Document, [string], HTMLElement>(Document.prototype, "createElement"),
  append: method<Node, [Node], Node>(Node.prototype, "appendChild"),
  removeNode: method<Element, [], void>(Element.prototype, "remove"),
  attachShadow: method<Element, [ShadowRootInit], ShadowRoot>(Element.prototype, "attachShadow"),
  setAttribute: method<Element, [string, string], void>(Element.prototype, "setAttribute"),
  listen: method<EventTarget, [string, (e: Event) => void, AddEventListenerOptions?], void>(EventTarget.prototype, "addEventListener"),
  unlisten: method<EventTarget, [string, (e: Event) => void], void>(EventTarget.prototype, "removeEventListener"),
  setText: setter<Node, string>(Node.prototype, "textContent"),
  known: method<WeakMap<object, () => void>, [object], (() => void) | undefined>(WeakMap.prototype, "get"),
  know: method<WeakMap<object, () => void>, [object, () => void], unknown>(WeakMap.prototype, "set"),
  forget: method<WeakMap<object, () => void>, [object], boolean>(WeakMap.prototype, "delete"),
  stop: method<Event, [], void>(Event.prototype, "stopImmediatePropagation"),
  target: getter<Event, EventTarget | null>(Event.prototype, "target"),
  post: method<MessagePort, [string], void>(MessagePort.prototype, "postMessage"),
  startPort: method<MessagePort, [], void>(MessagePort.prototype, "start"),
  data: getter<MessageEvent, unknown>(MessageEvent.prototype, "data"),
  source: getter<MessageEvent, unknown>(MessageEvent.prototype, "source"),
  ports: getter<MessageEvent, readonly MessagePort[]>(MessageEvent.prototype, "ports"),
  inputValue: getter<HTMLInputElement, string>(HTMLInputElement.prototype, "value"),
  tagName: getter<Element, string>(Element.prototype, "localName"),
  active: "userActivation" in navigator ? navigator.userActivation : undefined,
  isActive: "UserActivation" in window ? getter<UserActivation, boolean>(UserActivation.prototype, "isActive") : () => true,
};
