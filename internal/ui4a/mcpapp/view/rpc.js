// JSON-RPC 2.0 with the window above, and no other.
const above = window.parent;

export class Host {
  #waiting = new Map();
  #last = 0;

  /** handlers: what to do with the host's requests and notifications, by method. */
  constructor(handlers) {
    addEventListener("message", ({ source, data }) => {
      if (source !== above || data?.jsonrpc !== "2.0") return;
      if (!data.method) return this.#answered(data);
      const known = Object.hasOwn(handlers, data.method);
      if (known) handlers[data.method](data.params ?? {});
      if (data.id !== undefined) this.#send({ id: data.id, ...(known ? { result: {} } : { error: { code: -32601, message: "this view does not know the method" } }) });
    });
  }

  #send(message) {
    above.postMessage({ jsonrpc: "2.0", ...message }, "*"); // who the host is, a view cannot know
  }

  #answered({ id, result, error }) {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) waiting?.failed(new Error(error.message));
    else waiting?.done(result);
  }

  /** Asks, and gives a promise of the answer. */
  call(method, params) {
    return new Promise((done, failed) => {
      this.#waiting.set(++this.#last, { done, failed });
      this.#send({ id: this.#last, method, params });
    });
  }

  /** Says something that has no answer. */
  tell(method, params) {
    this.#send({ method, params });
  }
}
