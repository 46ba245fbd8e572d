// Sets the colours before anything is drawn. It is a plain script in the head, so
// that a page asked to be dark is never light for a moment.
"use strict";

(() => {
  const themes = ["system", "light", "dark"];
  const root = document.documentElement;

  function stored() {
    try {
      const name = localStorage.getItem("macaron.theme");
      return themes.includes(name) ? name : "system";
    } catch {
      return "system"; // storage may be switched off
    }
  }

  function apply(name) {
    if (name === "system") delete root.dataset.theme;
    else root.dataset.theme = name;
  }

  window.macaronTheme = {
    current: stored,
    next() {
      const name = themes[(themes.indexOf(stored()) + 1) % themes.length];
      try {
        localStorage.setItem("macaron.theme", name);
      } catch {
        // the choice then holds for this page only
      }
      apply(name);
      return name;
    },
  };
  apply(stored());
})();
