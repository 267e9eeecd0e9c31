"use strict";
(() => {
  // Heads of columns become buttons: a click sorts, another turns the order around. What has no value comes last either way.
  const valueOf = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value ?? cell.textContent;
  };
  const byText = new Intl.Collator(undefined, { numeric: true }).compare;

  const sort = (table, head, column) => {
    const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    const isNumber = head.classList.contains("number");
    const rows = [...table.tBodies[0].rows].map((row) => [valueOf(row, column), row]);
    const empty = (value) => value === "" || (isNumber && Number.isNaN(Number(value)));
    const compare = isNumber ? (a, b) => Number(a) - Number(b) : byText;
    rows.sort(([a], [b]) => (empty(a) || empty(b) ? empty(a) - empty(b) : sign * compare(a, b)));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    table.tBodies[0].append(...rows.map(([, row]) => row));
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, head, column));
      head.append(button);
    });
  }

  // The table of tests shows those with one variable, or with one decision.
  const choices = document.getElementById("ci-choices");
  if (choices) {
    const variable = document.getElementById("ci-variable");
    const decision = document.getElementById("ci-decision");
    const shown = document.getElementById("ci-shown");
    const body = document.getElementById("ci").tBodies[0];
    const choose = () => {
      let count = 0;
      for (const row of body.rows) {
        const has = !variable.value || row.dataset.variables.split(" ").includes(variable.value);
        row.hidden = !(has && (!decision.value || row.dataset.decision === decision.value));
        count += !row.hidden;
      }
      shown.textContent = `${count} of ${body.rows.length} shown`;
    };
    for (const choice of [variable, decision]) {
      choice.value = "";
      choice.addEventListener("change", choose);
    }
    choose();
    choices.hidden = false;
  }

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
