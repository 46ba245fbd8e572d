// Tells the host how high the card is: the content's wrapper, never the document, whose
// height follows the frame's. A shrink of a few pixels is noise.
import { line, send } from "../bridge/port";
import { flush, holdsPrivate } from "../state/store";

const noise = 4;
const grain = 64; // once private values are held: the host rounds as well
let told = 0;

export function tellHeight(card: HTMLElement) {
  const step = holdsPrivate() ? grain : 1;
  const height = Math.ceil(card.getBoundingClientRect().height / step) * step;
  if (height === told || (height < told && told - height <= noise)) return;
  flush(); // the host learns of a private value before it sees what the value did
  if (send(line("height", [["px", `${height}`]]))) told = height;
}

export function watchHeight(card: HTMLElement) {
  new ResizeObserver(() => tellHeight(card)).observe(card);
}
