"use strict";
(() => {
  // What is folded would not be printed.
  const folded = new Set();
  window.addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details:not([open])")) {
      folded.add(part);
      part.open = true;
    }
  });
  window.addEventListener("afterprint", () => {
    for (const part of folded) part.open = false;
    folded.clear();
  });
})();
