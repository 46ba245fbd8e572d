// A card that mounts and shows nothing: no text, no picture, no control.
const shown = "svg,canvas,img,input,button,select,textarea,progress,meter,hr,[role=img]";

export function isBlank(card: HTMLElement): boolean {
  if (card.getBoundingClientRect().height < 1) return true;
  return card.innerText.trim() === "" && !card.querySelector(shown);
}
