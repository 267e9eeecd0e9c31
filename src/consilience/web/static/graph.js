// The drawing of a graph, alive: pointing at an edge or at a missing one shows what decided it; variables can be moved by hand or by keys,
// and stay where they were put, in all graphs of a study. Names are others' text: they go onto the page as text only.
import { redraw } from "./edges.js";
import { panel } from "./panel.js";

const SVG = "http://www.w3.org/2000/svg";
const STEP = 10, FAR = 40, STILL = 4, PAUSE = 350; // pixels, pixels, pixels of a hand that clicks, milliseconds before the server draws anew
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

class Graph {
  constructor(figure, told) {
    this.figure = figure;
    this.told = told;
    this.place = new Map(told.names.map((name, number) => [name, number]));
    this.status = figure.querySelector("[data-status]");
    this.key = `consilience.layout.${figure.dataset.layout}`;
    const details = document.getElementById("details");
    this.panel = panel(details.querySelector(".details-body"), figure.dataset.tests, details.querySelector("template"));
    // as high as it is, whatever it says: a table below that moved away under the pointer would be a nuisance
    details.classList.add("live");
    details.setAttribute("tabindex", "0");
    this.pinned = new URLSearchParams(location.search).get("pair");
    this.allGaps = false;
    this.node = null;
    this.adopt(figure.querySelector(".drawing svg"));
    this.tools();
    this.tables();
    const kept = this.read();
    if (kept) this.refresh(kept);
    this.look(this.pinned);
  }

  // The drawing comes from the server, at first and after every move: routes, marks and notes are drawn in one place only.
  adopt(svg) {
    this.svg = svg;
    svg.classList.add("alive");
    svg.setAttribute("role", "group"); // an image has no parts that could be reached
    svg.querySelector(":scope > title")?.remove(); // the browser would show it over everything
    this.nodes = new Map();
    for (const node of svg.querySelectorAll(".node")) this.adoptNode(node);
    for (const edge of svg.querySelectorAll(":scope > .edge")) this.adoptEdge(edge);
    this.drawGaps();
  }

  adoptNode(node) {
    const label = node.dataset.label;
    node.querySelector("title")?.remove();
    node.setAttribute("tabindex", "0");
    node.setAttribute("role", "button");
    node.setAttribute("aria-label", `${label}. Arrow keys move it; Enter shows what it is not joined to.`);
    this.nodes.set(label, node);
    node.addEventListener("pointerdown", (event) => this.grab(event, node));
    node.addEventListener("keydown", (event) => this.press(event, node));
    node.addEventListener("click", () => this.choose(label)); // also from assistive software, which does not point
  }

  adoptEdge(edge) {
    const pair = this.pair(edge.dataset.from, edge.dataset.to);
    const words = edge.querySelector("title");
    edge.setAttribute("aria-label", words ? words.textContent : pair);
    words?.remove();
    const hit = document.createElementNS(SVG, "path");
    hit.setAttribute("class", "hit");
    hit.setAttribute("d", edge.querySelector(".line").getAttribute("d"));
    edge.prepend(hit);
    this.listen(edge, pair);
  }

  listen(element, pair) {
    element.dataset.pair = pair;
    element.setAttribute("tabindex", "0");
    element.setAttribute("role", "button");
    element.addEventListener("pointerenter", () => this.look(pair));
    element.addEventListener("pointerleave", () => this.look(this.pinned));
    element.addEventListener("focus", () => this.look(pair));
    element.addEventListener("blur", () => this.look(this.pinned));
    element.addEventListener("click", () => this.pin(pair));
    element.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        this.pin(pair);
      } else if (event.key === "Escape") this.pin(null);
    });
  }

  pair(a, b) {
    const [i, j] = [this.place.get(a), this.place.get(b)].sort((one, other) => one - other);
    return `${i}-${j}`;
  }

  // What is looked at, and what stays chosen

  look(pair) {
    if (this.moving) return;
    this.panel.show(pair ? this.told.pairs[pair] : null);
    this.mark(pair);
  }

  pin(pair) {
    this.pinned = pair;
    this.look(pair);
    const address = new URL(location.href);
    if (pair) address.searchParams.set("pair", pair);
    else address.searchParams.delete("pair");
    history.replaceState(null, "", address);
  }

  mark(pair) {
    for (const one of document.querySelectorAll("[data-pair].chosen")) one.classList.remove("chosen");
    if (!pair) return;
    for (const one of document.querySelectorAll(`[data-pair="${CSS.escape(pair)}"]`)) one.classList.add("chosen");
  }

  choose(label) {
    if (this.dragged) return;
    const before = this.node;
    this.node = before === label ? null : label;
    // two variables, one after the other: the pair of them
    if (before && before !== label) this.pin(this.pair(before, label));
    for (const [name, node] of this.nodes) node.classList.toggle("chosen", name === this.node);
    this.drawGaps();
    if (this.node) this.say(`${label} chosen. Choose another variable to see what is said of the two.`);
  }

  // Missing edges: those of the chosen variable, or all

  drawGaps() {
    this.svg.querySelector(".all-gaps")?.remove();
    if (!this.allGaps && !this.node) return;
    const group = document.createElementNS(SVG, "g");
    group.setAttribute("class", "all-gaps");
    for (const told of Object.values(this.told.pairs)) {
      const [a, b] = told.ends;
      if (told.sign || (!this.allGaps && a !== this.node && b !== this.node)) continue;
      group.append(this.gap(told, a, b));
    }
    this.svg.insertBefore(group, this.svg.querySelector(".edge, .node"));
  }

  gap(told, a, b) {
    const gap = document.createElementNS(SVG, "g");
    gap.setAttribute("class", "gap");
    gap.setAttribute("aria-label", `${a} and ${b}: ${told.gap}`);
    gap.dataset.from = a;
    gap.dataset.to = b;
    for (const name of ["hit", "seen"]) {
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("class", name);
      gap.append(path);
    }
    redraw(gap, this.nodes.get(a), this.nodes.get(b));
    this.listen(gap, told.pair);
    return gap;
  }

  // Moving

  grab(event, node) {
    if (event.button !== 0) return;
    const label = node.dataset.label;
    const start = this.point(event), from = centre(node);
    this.dragged = false;
    const move = (now) => {
      const at = this.point(now);
      if (!this.dragged && Math.hypot(at.x - start.x, at.y - start.y) < STILL) return;
      this.dragged = this.moving = true;
      node.classList.add("held");
      this.put(label, from.x + at.x - start.x, from.y + at.y - start.y);
    };
    const drop = () => {
      node.removeEventListener("pointermove", move);
      node.classList.remove("held");
      this.moving = false;
      if (this.dragged) this.refresh(this.layout());
      setTimeout(() => { this.dragged = false; }); // the click that ends a drag chooses nothing
    };
    node.setPointerCapture(event.pointerId);
    node.addEventListener("pointermove", move);
    node.addEventListener("pointerup", drop, { once: true });
    node.addEventListener("pointercancel", drop, { once: true });
  }

  press(event, node) {
    const label = node.dataset.label, way = KEYS[event.key];
    if (way && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      const step = event.shiftKey ? FAR : STEP, { x, y } = centre(node);
      this.put(label, x + step * way[0], y + step * way[1]);
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.refresh(this.layout(), `${label} moved.`), PAUSE);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.choose(label);
    } else if (event.key === "Escape") {
      if (this.node) this.choose(this.node);
      this.pin(null);
    }
  }

  point(event) {
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
  }

  // While something moves, its edges are straight lines; the server finds better ways as soon as it rests.
  put(label, x, y) {
    const node = this.nodes.get(label), before = centre(node), rect = node.querySelector("rect");
    const dx = x - before.x, dy = y - before.y;
    shift(rect, "x", dx);
    shift(rect, "y", dy);
    for (const line of node.querySelectorAll("tspan")) {
      shift(line, "x", dx);
      shift(line, "y", dy);
    }
    for (const line of this.svg.querySelectorAll(".edge, .gap, text[data-from]")) {
      const { from, to } = line.dataset;
      if (from === label || to === label) redraw(line, this.nodes.get(from), this.nodes.get(to));
    }
  }

  layout() {
    const kept = this.read() ?? {};
    for (const [label, node] of this.nodes) {
      const { x, y } = centre(node);
      kept[label] = [Math.round(x * 100) / 100, Math.round(y * 100) / 100];
    }
    return kept;
  }

  async refresh(layout, words = "") {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    this.write(layout);
    let text;
    try {
      const answer = await fetch(this.address(this.figure.dataset.drawing, layout));
      if (!answer.ok) return;
      text = await answer.text();
    } catch {
      return; // no connection: the straight lines stay, and nothing is lost
    }
    if (turn !== this.turn || this.moving) return; // it was moved on meanwhile
    const svg = document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
    if (svg.localName !== "svg") return;
    const focused = this.svg.contains(document.activeElement) ? document.activeElement : null;
    const label = focused?.dataset.label, pair = focused?.dataset.pair;
    this.svg.replaceWith(svg);
    this.adopt(svg);
    for (const [name, node] of this.nodes) node.classList.toggle("chosen", name === this.node);
    this.mark(this.pinned);
    if (label !== undefined) this.nodes.get(label)?.focus();
    else if (pair) svg.querySelector(`[data-pair="${CSS.escape(pair)}"]`)?.focus();
    if (words) this.say(words);
    this.update();
  }

  address(base, layout = this.read()) {
    const address = new URL(base, location.href);
    if (layout && this.told.names.every((name) => layout[name])) {
      address.searchParams.set("at", this.told.names.map((name) => layout[name].join(",")).join(";"));
    }
    return address;
  }

  // Kept in the browser only, under the study's key; whoever forbids that has the layout of the server
  read() {
    try {
      const kept = JSON.parse(localStorage.getItem(this.key));
      const usable = kept && this.told.names.some((name) => Array.isArray(kept[name]) && kept[name].every(Number.isFinite));
      return usable ? { ...this.told.positions, ...kept } : null;
    } catch {
      return null;
    }
  }

  write(layout) {
    try {
      localStorage.setItem(this.key, JSON.stringify(layout));
    } catch {
      this.say("This browser keeps no layout.");
    }
    this.update();
  }

  say(words) {
    this.status.textContent = words;
  }

  // What stands around the drawing

  tools() {
    const [gaps, reset] = ["gaps", "reset"].map((name) => this.figure.querySelector(`[data-tool="${name}"]`));
    this.figure.querySelector(".tools").hidden = false;
    gaps.hidden = !Object.values(this.told.pairs).some((told) => !told.sign);
    gaps.addEventListener("click", () => {
      this.allGaps = !this.allGaps;
      gaps.setAttribute("aria-pressed", String(this.allGaps));
      this.drawGaps();
    });
    reset.addEventListener("click", () => {
      localStorage.removeItem(this.key);
      location.reload();
    });
    this.reset = reset;
    const png = document.querySelector("[data-png]");
    if (png) {
      png.hidden = false;
      png.querySelector("button").addEventListener("click", () => this.png().catch(() => this.say("The picture could not be made.")));
    }
    this.update();
  }

  update() {
    if (this.reset) this.reset.hidden = !this.read();
    for (const link of document.querySelectorAll("a[data-with-layout]")) link.href = this.address(link.href.split("&at=")[0]);
  }

  tables() {
    for (const row of document.querySelectorAll(".edge-table tr[data-pair], .gap-list li[data-pair]")) {
      const pair = row.dataset.pair, link = row.querySelector("a");
      row.addEventListener("pointerenter", () => this.look(pair));
      row.addEventListener("pointerleave", () => this.look(this.pinned));
      link.addEventListener("focus", () => this.look(pair));
      link.addEventListener("blur", () => this.look(this.pinned));
      link.addEventListener("click", (event) => {
        event.preventDefault();
        this.pin(pair);
      });
    }
  }

  // The policy of the page lets it load pictures from here only; the server's drawing is one, so it can be painted and saved as dots.
  async png() {
    const picture = new Image();
    picture.src = this.address(this.figure.dataset.sheet);
    await picture.decode();
    const scale = 2, canvas = document.createElement("canvas");
    canvas.width = Math.round(scale * picture.naturalWidth);
    canvas.height = Math.round(scale * picture.naturalHeight);
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    const dots = await new Promise((done) => { canvas.toBlob(done, "image/png"); });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(dots);
    link.download = `${this.figure.dataset.file}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
}

function centre(node) {
  const rect = node.querySelector("rect");
  const [x, y, wide, high] = ["x", "y", "width", "height"].map((name) => Number(rect.getAttribute(name)));
  return { x: x + wide / 2, y: y + high / 2 };
}

function shift(element, name, by) {
  element.setAttribute(name, (Number(element.getAttribute(name)) + by).toFixed(2));
}

// Another level: the slider is a hand on the field, on a scale where 0.001 and 0.01 are as far apart as 0.01 and 0.1.
function slider(form) {
  const field = form.querySelector("#alpha"), hand = form.querySelector("#alpha-slider");
  const follow = () => { if (Number(field.value) > 0) hand.value = Math.log10(Number(field.value)); };
  form.querySelector(".slider").hidden = false;
  follow();
  field.addEventListener("input", follow);
  hand.addEventListener("input", () => { field.value = String(Number((10 ** Number(hand.value)).toPrecision(2))); });
}

for (const form of document.querySelectorAll("form[data-alpha]")) slider(form);
for (const figure of document.querySelectorAll("figure[data-data]")) {
  const answer = await fetch(figure.dataset.data);
  if (answer.ok) figure.graph = new Graph(figure, await answer.json());
}
