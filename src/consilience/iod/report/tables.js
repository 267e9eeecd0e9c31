"use strict";
// Tables that are sorted and searched on the page. The report carries this script in itself, the apps load it.
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
      button.append(head.textContent);
      button.addEventListener("click", () => sort(table, head, column));
      head.replaceChildren(button);
    });
  }

  // The table of tests shows those with one variable, one decision, some words. Where it is only a part of all tests, the form asks the
  // server instead, and this stays away: a search that passes over tests would be a lie.
  const choices = document.getElementById("ci-choices");
  const table = document.getElementById("ci");
  if (choices && table && table.classList.contains("sortable")) {
    const [variable, decision, words] = ["ci-variable", "ci-decision", "ci-words"].map((id) => document.getElementById(id));
    const shown = document.getElementById("ci-shown");
    const body = table.tBodies[0];
    const texts = new Map([...body.rows].map((row) => [row, row.textContent.toLocaleLowerCase()]));
    const choose = () => {
      const wanted = words.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      for (const row of body.rows) {
        const has = !variable.value || row.dataset.variables.split(" ").includes(variable.value);
        const decided = !decision.value || row.dataset.decision === decision.value;
        row.hidden = !(has && decided && wanted.every((word) => texts.get(row).includes(word)));
        count += !row.hidden;
      }
      shown.textContent = `${count} of ${body.rows.length} shown`;
    };
    for (const choice of [variable, decision, words]) {
      if (!choices.dataset.kept) choice.value = "";
      choice.addEventListener("input", choose);
      choice.addEventListener("change", choose);
    }
    choices.addEventListener("submit", (event) => event.preventDefault());
    for (const button of choices.querySelectorAll("button")) button.hidden = true;
    choose();
    choices.hidden = false;
  }
})();
