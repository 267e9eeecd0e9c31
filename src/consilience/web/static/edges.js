// Straight edges between two boxes, while one of them is moved: the same marks at the same distances as in the server's drawing.

const STROKE = 1.5, RADIUS = 4.4, MARK = 11.5, HALF = 4.8, DIAMOND = [12, 4.6];

function box(node) {
  const rect = node.querySelector("rect");
  const [x, y, wide, high, corner] = ["x", "y", "width", "height", "rx"].map((name) => Number(rect.getAttribute(name)));
  return { x: x + wide / 2, y: y + high / 2, wide: wide / 2, high: high / 2, corner };
}

// The distance of a point from the border of a box with round corners, negative inside
function distance(one, x, y) {
  const dx = Math.abs(x - one.x) - (one.wide - one.corner), dy = Math.abs(y - one.y) - (one.high - one.corner);
  return Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(Math.max(dx, dy), 0) - one.corner;
}

const clamp = (value, room) => Math.min(Math.max(value, -room), room);
const towards = (one, other) => [
  one.x + 0.5 * clamp(other.x - one.x, one.wide - one.corner),
  one.y + 0.5 * clamp(other.y - one.y, one.high - one.corner),
];

// How far along the line from its start in the box the border is
function leaving(one, [x, y], [dx, dy], length) {
  let low = 0, high = length;
  for (let turn = 0; turn < 30; turn += 1) {
    const middle = (low + high) / 2;
    if (distance(one, x + middle * dx, y + middle * dy) <= 0) low = middle;
    else high = middle;
  }
  return low;
}

const text = (...numbers) => numbers.map((number) => number.toFixed(2)).join(" ");

// Draws a mark whose tip is at (x, y), with the line going away along (dx, dy); returns where the line starts
function mark(kind, element, x, y, dx, dy) {
  const at = (along, across = 0) => [x + along * dx + across * dy, y + along * dy - across * dx];
  if (kind === "circle") {
    const [cx, cy] = at(RADIUS + STROKE);
    element.setAttribute("cx", cx.toFixed(2));
    element.setAttribute("cy", cy.toFixed(2));
    return 2 * RADIUS + STROKE;
  }
  if (kind === "arrow") {
    element.setAttribute("d", `M${text(...at(0))} L${text(...at(MARK, HALF))} L${text(...at(MARK, -HALF))} Z`);
    return MARK - 1;
  }
  if (kind === "open") {
    const [length, half] = DIAMOND, near = STROKE;
    const corners = [at(near), at(near + length / 2, half), at(near + length), at(near + length / 2, -half)];
    element.setAttribute("d", `M${corners.map((one) => text(...one)).join(" L")} Z`);
    return near + length;
  }
  return 0;
}

// Draw an edge, a missing edge or a note between two nodes anew
export function redraw(element, from, to) {
  const a = box(from), b = box(to);
  const [x, y] = towards(a, b), [u, v] = towards(b, a);
  const length = Math.hypot(u - x, v - y) || 1, dx = (u - x) / length, dy = (v - y) / length;
  const start = leaving(a, [x, y], [dx, dy], length), end = length - leaving(b, [u, v], [-dx, -dy], length);
  if (element.localName === "text") {
    const middle = (start + end) / 2, up = dx < 0 ? -1 : 1;
    element.setAttribute("x", (x + middle * dx + 12 * dy * up).toFixed(2));
    element.setAttribute("y", (y + middle * dy - 9 * dx * up + 3).toFixed(2));
    return;
  }
  const kinds = [element.dataset.markFrom, element.dataset.markTo];
  const marks = [...element.querySelectorAll(".mark")];
  const near = marks.length && kinds[0] !== "tail" ? marks[0] : null;
  const far = marks.length && kinds[1] !== "tail" ? marks[marks.length - 1] : null;
  const first = start + (near ? mark(kinds[0], near, x + start * dx, y + start * dy, dx, dy) : 0);
  const last = end - (far ? mark(kinds[1], far, x + end * dx, y + end * dy, -dx, -dy) : 0);
  const path = `M${text(x + first * dx, y + first * dy)} L${text(x + last * dx, y + last * dy)}`;
  for (const one of element.querySelectorAll(".line, .hit, .seen")) one.setAttribute("d", path);
}
