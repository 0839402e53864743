// Keeps a page up to date by server-sent events, and gives the list its keys. Everything works without it, but for
// what moves by itself.
"use strict";

const byId = (id) => document.getElementById(id);
const rows = () => [...document.querySelectorAll("#rows > tr:not([hidden])")];
const boxes = () => [...document.querySelectorAll("#rows input:checked")];

// Parts and rows are HTML that the program has made, with all texts escaped.
function show(event) {
  for (const [id, html] of Object.entries(event.parts || {})) {
    const element = byId(id);
    if (element) replacePart(element, html);
  }
  for (const [id, html] of Object.entries(event.rows || {})) replaceRow(id, html);
  for (const id of event.gone || []) {
    fresh.delete(id);
    byId(id)?.classList.add("muted");
  }
  announceFresh();
  if (event.reload) location.reload();
}

// A part that stays as it is isn't touched, and one that changes keeps the focus, or the keyboard would begin again at each event.
function replacePart(element, html) {
  const part = element.cloneNode(false);
  part.innerHTML = html;
  if (part.isEqualNode(element)) return;
  const reached = () => [...element.querySelectorAll("a, button, input, select, summary")];
  const at = reached().indexOf(document.activeElement);
  element.replaceChildren(...part.childNodes);
  if (at >= 0) reached()[at]?.focus({ preventScroll: true });
}

function replaceRow(id, html) {
  const old = byId(id);
  if (!old) {
    fresh.add(id);
    return;
  }
  const template = document.createElement("template");
  template.innerHTML = html;
  const row = template.content.querySelector("tr");
  if (!row || row.dataset.version === old.dataset.version) return;
  const focused = old.contains(document.activeElement) && document.activeElement.tagName;
  row.querySelector("input").checked = old.querySelector("input").checked;
  row.hidden = old.hidden;
  old.replaceWith(row);
  if (focused) row.querySelector(focused)?.focus();
}

// New rows wait behind a button, so that nothing moves while somebody reads.
const fresh = new Set();
function announceFresh() {
  const button = byId("fresh");
  if (!button) {
    if (fresh.size && byId("filter")) location.reload();
    return;
  }
  button.hidden = fresh.size === 0;
  button.textContent = fresh.size + " new";
  button.onclick = () => location.reload();
}

let source = null;
function follow() {
  source = new EventSource(document.body.dataset.events);
  let since = null;
  source.onmessage = (message) => {
    since = null;
    byId("offline").hidden = true;
    const event = JSON.parse(message.data);
    if (event.reload || event.again) source.close();
    show(event);
    if (event.again) follow();
  };
  source.onerror = () => {
    since = since || new Date();
    const line = byId("offline");
    line.hidden = false;
    line.textContent = "Not connected since " + since.toLocaleTimeString() + "; metrics are of then. Runs go on. Trying again.";
    if (source.readyState !== EventSource.CLOSED) return;
    // The login may have ended: what is in front of the pages then refuses them, or sends the browser to where one logs in.
    fetch(location.href, { method: "HEAD", redirect: "manual" })
      .then((page) => ([401, 403].includes(page.status) || page.type === "opaqueredirect") && location.reload(), () => {});
    setTimeout(follow, 5000);
  };
}
if (document.body.dataset.events) follow();

function chosen() {
  const button = byId("compare");
  if (!button) return;
  const n = boxes().length;
  button.disabled = n < 2 || n > 6;
  byId("chosen").textContent = n ? n + " selected" : "two to six runs";
}
document.addEventListener("change", (e) => {
  if (e.target.name === "run") chosen();
  if (e.target.form?.id === "filter" && e.target.tagName === "SELECT") e.target.form.requestSubmit();
});
chosen();

// The text filters the rows of the page at once; the URL keeps it once nothing was typed for a moment. Of the rows that match the
// first hundred are shown, and more when one scrolls to their end: to show a thousand at once takes 0.1 s.
const search = byId("search");
const list = byId("rows");
const step = 100; // as firstRows
let most = step;
function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let left = 0;
  for (const row of list.children) {
    const text = row.getAttribute("data-text"); // dataset would make an object for each row
    const matches = words.every((word) => text.includes(word));
    if (matches) left++;
    const hidden = !matches || left > most;
    if (row.hidden !== hidden) row.hidden = hidden; // else the browser would look at the style of a row that stays as it is
  }
  const count = byId("count");
  count.textContent = grouped(left) + " of " + grouped(count.dataset.all) + " runs";
  byId("nothing").hidden = left > 0;
  byId("more").hidden = left <= most;
}
if (search && list) {
  const loaded = search.value;
  let pause = 0;
  search.addEventListener("input", () => {
    most = step;
    filter();
    clearTimeout(pause);
    pause = setTimeout(remember, 200);
    if (!search.value.includes(loaded)) {
      remember();
      location.reload();
    }
  });
  const more = byId("more");
  more.addEventListener("click", () => {
    most += step;
    filter();
  });
  const end = new IntersectionObserver((changes) => {
    if (!changes.at(-1).isIntersecting) return;
    more.click();
    end.unobserve(more); // an observer only tells of changes, and the end may still be seen
    end.observe(more);
  }, { root: list.closest(".scroll"), rootMargin: "400px" });
  end.observe(more);
}

// grouped returns a whole number as the program writes it. The first toLocaleString of a page takes 0.1 s.
const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

function remember() {
  const url = new URL(location.href);
  url.searchParams.set("q", search.value);
  history.replaceState(null, "", url);
}

function move(step) {
  const all = rows();
  if (!all.length) return;
  const at = all.findIndex((row) => row.contains(document.activeElement));
  const next = at < 0 ? all[0] : all[Math.min(Math.max(at + step, 0), all.length - 1)];
  next.querySelector("a").focus();
  next.scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || !byId("rows")) return;
  const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(e.target.tagName) && e.target.type !== "checkbox";
  if (typing) {
    if (e.key === "Escape") e.target.blur();
    return;
  }
  const letters = byId("letters").checked;
  const row = document.activeElement.closest("#rows > tr");
  const actions = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    ...(letters && {
      j: () => move(1),
      k: () => move(-1),
      x: () => { row?.querySelector("input").click(); },
      c: () => { if (!byId("compare").disabled) byId("comparison").submit(); },
      "/": () => search.focus(),
      "?": () => { byId("keys").open = true; byId("keys").scrollIntoView(); },
    }),
  };
  const action = actions[e.key];
  if (action) {
    e.preventDefault();
    action();
  }
});
