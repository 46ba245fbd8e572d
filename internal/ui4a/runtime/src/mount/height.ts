// Tells the host how high the card is: the content's wrapper, never the document, whose
// height follows the frame's. A shrink of a few pixels is noise.
import { line, send } from "../bridge/port";

const noise = 4;
let told = 0;

export function tellHeight(card: HTMLElement) {
  const height = Math.ceil(card.getBoundingClientRect().height);
  if (height === told || (height < told && told - height <= noise)) return;
  if (send(line("height", [["px", `${height}`]]))) told = height;
}

export function watchHeight(card: HTMLElement) {
  new ResizeObserver(() => tellHeight(card)).observe(card);
}
