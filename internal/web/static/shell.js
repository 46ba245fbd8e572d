// What is around the conversation: the drawer of narrow screens and the colours.

import { icon } from "./dom.js";

const $ = (id) => document.getElementById(id);

/** On narrow screens the list is a drawer over the page. */
export function setUpDrawer() {
  const narrow = matchMedia("(max-width: 820px)");
  const sidebar = $("sidebar");
  const opener = $("open-drawer");
  const isOpen = () => document.body.classList.contains("drawer");
  const set = (open) => {
    document.body.classList.toggle("drawer", open && narrow.matches);
    sidebar.inert = narrow.matches && !open;
    document.querySelector("main").inert = narrow.matches && open;
    $("backdrop").hidden = !isOpen();
    opener.setAttribute("aria-expanded", String(isOpen()));
  };
  const close = () => {
    const was = isOpen();
    set(false);
    if (was) opener.focus();
  };
  opener.append(icon("menu"));
  opener.addEventListener("click", () => {
    set(true);
    sidebar.querySelector(".wide-button").focus();
  });
  $("close-drawer").append(icon("close"));
  $("close-drawer").addEventListener("click", close);
  $("backdrop").addEventListener("click", close);
  narrow.addEventListener("change", () => set(false));
  set(false);
  return { close, isOpen };
}

/** The button goes through the colours of the system, light and dark. */
export function setUpTheme() {
  const button = $("theme");
  const show = (name) => {
    button.replaceChildren(icon(name));
    button.title = "Colours: " + (name === "system" ? "as the system" : name);
    button.setAttribute("aria-label", button.title);
  };
  button.addEventListener("click", () => show(window.macaronTheme.next()));
  show(window.macaronTheme.current());
}

/** What the address names behind its "#". One that is badly escaped is taken as it stands. */
export function named() {
  const text = location.hash.slice(1);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
