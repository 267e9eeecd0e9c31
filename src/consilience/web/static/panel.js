// All that is said of a pair of variables, as elements. Every word is set as text: names come from others.

const make = (name, text, attributes = {}) => {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
};

function title(told) {
  const head = make("h3", undefined, { class: "pair-title" });
  head.append(make("bdi", told.ends[0]), " ", make("span", told.sign || told.gap, { class: "sign" }), " ", make("bdi", told.ends[1]));
  return head;
}

// A small plot as the server has drawn it: lines and dots, no words
const picture = (text) => document.importNode(new DOMParser().parseFromString(text, "text/html").querySelector("svg"), true);

function facts(told) {
  const list = make("dl", undefined, { class: "facts" });
  for (const fact of told.facts) {
    const row = make("div");
    const words = make("dd", fact.words);
    if (fact.plot) words.append(picture(fact.plot));
    row.append(make("dt", fact.term), words);
    list.append(row);
  }
  return list;
}

function tests(told) {
  const table = make("table", undefined, { class: "pair-tests" });
  const head = make("tr");
  for (const [words, kind] of [["given"], ["p-value", "number"], ["decision"], ["strength", "number"], ["rows", "number"]]) {
    head.append(make("th", words, { scope: "col", ...(kind ? { class: kind } : {}) }));
  }
  const body = make("tbody");
  for (const test of told.tests) {
    const row = make("tr"), given = make("td"), decision = make("td");
    test.given.forEach((name, number) => given.append(number ? ", " : "", make("bdi", name)));
    if (!test.given.length) given.textContent = "nothing";
    decision.append(make("span", test.decision, { class: `decision ${test.decision}` }));
    row.append(given, make("td", test.p, { class: "number" }), decision, make("td", test.strength, { class: "number", ...(test.size ? { title: test.size } : {}) }), make("td", test.n, { class: "number" }));
    body.append(row);
  }
  const top = make("thead");
  top.append(head);
  table.append(make("caption", "Tests of these two"), top, body);
  return table;
}

function more(told, address) {
  const to = new URL(address, location.href);
  to.searchParams.set("pair", told.pair);
  const words = told.more > 0 ? `${told.more} more test${told.more === 1 ? "" : "s"} in the table of tests` : "In the table of tests";
  const line = make("p", undefined, { class: "small" });
  line.append(make("a", words, { href: to.pathname + to.search }));
  return line;
}

// The panel in this element; when nothing is looked at, it says what one can do.
export function panel(element, testsAddress, ways) {
  let shown;
  return {
    show(told) {
      if (told === shown) return;
      shown = told;
      if (!told) element.replaceChildren(ways.content.cloneNode(true));
      else element.replaceChildren(title(told), facts(told), ...(told.tests.length ? [tests(told), more(told, testsAddress)] : []));
    },
  };
}
