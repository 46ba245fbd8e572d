// The first statement of the runtime: it runs before anything else in its document.
export {};
