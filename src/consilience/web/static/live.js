// Keeps a page up to date. <main data-live="/run/events"> is connected to that address; events say which element gets which content.
// Without this script the page shows the same when it is loaded again.

const root = document.querySelector("[data-live]");

function pieces(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html; // made by our templates, which escape; and the policy of the page runs no script in it
  return holder.content;
}

// New content in place of the old. What a reader has opened stays open, and the focus stays where it was; a form that is being filled in
// is left alone.
function replace(element, content) {
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  if (focused && focused.matches("input, select, textarea")) return;
  const focusable = "a[href], button, summary, [tabindex]";
  const place = focused ? [...element.querySelectorAll(focusable)].indexOf(focused) : -1;
  const open = [...element.querySelectorAll("details")].map((each) => each.open);
  element.replaceChildren(content);
  element.querySelectorAll("details").forEach((each, i) => {
    if (open[i]) each.open = true;
  });
  if (place >= 0) element.querySelectorAll(focusable)[place]?.focus({ preventScroll: true });
}

let last = ""; // the number of the last event that the page shows

function connect(address) {
  const source = new EventSource(address);
  const notice = document.getElementById("connection");
  const say = (words) => {
    if (notice && notice.textContent !== words) notice.textContent = words;
  };
  const handle = (kind, act) =>
    source.addEventListener(kind, (event) => {
      const { target, html } = JSON.parse(event.data);
      if (Number(event.lastEventId)) last = event.lastEventId;
      act(target, html);
    });
  handle("replace", (target, html) => {
    const element = document.getElementById(target);
    if (element) replace(element, pieces(html));
  });
  handle("append", (target, html) => {
    const element = document.getElementById(target);
    if (!element) return;
    const box = element.closest(".scroll");
    const follows = box && box.scrollTop + box.clientHeight >= box.scrollHeight - 8;
    element.append(pieces(html));
    if (follows) box.scrollTop = box.scrollHeight;
  });
  handle("go", (target) => {
    source.close();
    location.assign(new URL(target, location.href).pathname);
  });
  handle("done", (target, html) => {
    source.close();
    say(pieces(html).textContent);
  });
  source.onopen = () => say("");
  source.onerror = () => say("The connection to this page has ended; it is being made again.");
  addEventListener("pagehide", () => source.close(), { once: true });
  // a form that was sent leads to a page of its own: news of what it did must not lead elsewhere first
  addEventListener("submit", () => source.close(), { once: true });
}

if (root) {
  connect(root.dataset.live);
  // who comes back by the browser's own button may get the page as it was left, without its connection
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    const address = new URL(root.dataset.live, location.href);
    if (last) address.searchParams.set("after", last);
    connect(address);
  });
}
