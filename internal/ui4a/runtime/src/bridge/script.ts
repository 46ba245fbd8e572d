// Runs a card's script: an element that no parser has made, with an address of this
// document's own. Nothing else can be run here.
import { scriptElement } from "../prelude/elements";
import { trustScript } from "../prelude/markup";
import { native } from "../prelude/natives";

let running = 0;

/** Whether a script of the host's is being run just now. */
export function isRunning(): boolean {
  return running > 0;
}

/** Runs a script; done is called after its last statement, or when it could not be read. */
export function run(text: string, done: (ran: boolean) => void) {
  const url = native.apply(native.createObjectURL, native.URL, [new native.Blob([text], { type: "text/javascript" })]);
  const element = scriptElement();
  const end = (ran: boolean) => {
    running--;
    native.apply(native.revokeObjectURL, native.URL, [url]);
    native.removeNode(element);
    done(ran);
  };
  native.listen(element, "load", () => end(true));
  native.listen(element, "error", () => end(false));
  running++;
  element.src = trustScript(url);
  native.append(native.document.documentElement, element);
}
