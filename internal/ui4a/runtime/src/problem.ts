// What a card does wrong without crashing: told once each, to whoever listens.

/** Something a card should do differently. */
export interface Problem {
  code: string;
  message: string;
  fix?: string;
}

type Listener = (problem: Problem) => void;

const told = new Map<string, Problem>();
const listeners = new Set<Listener>();
const most = 50; // a card in a loop has the same few mistakes

/** Tells of a problem. The same message is told once; later ones than the 50th are dropped. */
export function report(problem: Problem) {
  if (told.has(problem.message) || told.size >= most) return;
  told.set(problem.message, problem);
  for (const listener of listeners) listener(problem);
}

/** Calls listener with each problem, those told before first; gives what ends it. */
export function onProblem(listener: Listener): () => void {
  for (const problem of told.values()) listener(problem);
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Forgets what was told: another definition of the card is there. */
export function forgetProblems() {
  told.clear();
}
