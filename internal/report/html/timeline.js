"use strict";
// A closer look at the plots over time: a cursor through all of them, its values in words, and zoom. The page is complete
// without it. The data are in the element "series"; names and texts of it are only ever set as text.
(() => {
  const element = document.getElementById("series"), timeline = document.querySelector(".timeline");
  if (!element || !timeline) return;
  if (!location.hash) { // what is below the screen is laid out after the first paint, unless the URL leads there
    const main = timeline.closest("main");
    main.classList.add("unpainted");
    requestAnimationFrame(() => setTimeout(() => main.classList.remove("unpainted")));
  }
  const data = JSON.parse(element.textContent);
  const readout = timeline.querySelector("[data-readout]"), spoken = timeline.querySelector("[data-spoken]"), hint = readout.textContent;
  const figures = [...timeline.querySelectorAll("[data-panel]")].filter((f) => f.querySelector(".fit svg"));
  const panels = new Map(data.panels.map((p) => [p.id, p]));
  for (const panel of data.panels) { // a value that all points share, and a line of several panels, are there once
    for (const line of panel.lines) line.values ||= panel.heat ? panels.get("latency").lines.find((l) => l.name === line.name).values : data.times.map(() => line.all);
  }
  const all = data.end - data.start;
  let at = -1; // the point of the cursor
  let range = null; // the zoomed span in seconds

  const round = (x) => { // 3 significant digits, thousands with commas
    if (x === null || x === undefined) return "-";
    const number = Number(x.toPrecision(3)), digits = number === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(number))));
    return number.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  };
  const two = (n) => String(n).padStart(2, "0");
  const clock = (s) => {
    const whole = Math.round(Math.abs(s)), sign = s < 0 && whole > 0 ? "\u2212" : "";
    if (data.end < 120) return sign + whole + "\u202fs";
    if (data.end < 7200) return sign + Math.floor(whole / 60) + ":" + two(whole % 60);
    return sign + Math.floor(whole / 3600) + ":" + two(Math.floor(whole / 60) % 60);
  };
  const visible = (figure) => figure.closest("details:not([open])") === null;
  const svgOf = (figure) => figure.querySelector(".fit svg");
  const span = () => range || { from: data.start, to: data.end };
  const next = (i) => i + 1 < data.times.length ? data.times[i + 1] : data.end;
  const middle = (i) => (data.times[i] + next(i)) / 2;
  const center = () => at < 0 ? (span().from + span().to) / 2 : middle(at);

  function sentence(i) {
    const parts = [];
    for (const panel of data.panels) {
      const figure = timeline.querySelector(`[data-panel="${panel.id}"]`);
      if (panel.id === "load" || panel.heat || !figure || !visible(figure)) continue;
      for (const line of panel.lines) {
        const v = line.values[i];
        if (v === null || panel.stack && v === 0) continue;
        const name = line.name + (panel.short ? " " + panel.short : "");
        parts.push(line.name === panel.unit ? round(v) + "\u202f" + panel.unit : name + " " + round(v) + (panel.unit === "%" ? "%" : "\u202f" + panel.unit));
      }
    }
    return "at " + clock(data.times[i]) + ": " + parts.join(" · ");
  }

  function show(i, speak) {
    at = i;
    const s = span(), share = i < 0 ? -1 : (middle(i) - s.from) / (s.to - s.from);
    for (const figure of figures) {
      let line = figure.querySelector(".cursor");
      if (!line) {
        line = document.createElement("div");
        line.className = "cursor";
        figure.append(line);
      }
      const plot = svgOf(figure).getBoundingClientRect();
      line.hidden = share < 0 || share > 1;
      line.style.left = plot.left - figure.getBoundingClientRect().left + share * plot.width + "px";
    }
    readout.textContent = i < 0 ? hint : sentence(i);
    if (speak) spoken.textContent = readout.textContent;
  }

  const nearest = (seconds) => Math.max(0, data.times.findLastIndex((t) => t <= seconds));
  const secondsAt = (figure, x) => {
    const plot = svgOf(figure).getBoundingClientRect(), s = span();
    return s.from + (x - plot.left) / plot.width * (s.to - s.from);
  };

  // remember keeps the zoomed span in the URL.
  function remember() {
    if (!range && !location.hash.startsWith("#zoom=")) return;
    const hash = range ? "#zoom=" + Number(range.from.toFixed(3)) + "," + Number(range.to.toFixed(3)) : "#";
    history.replaceState(null, "", hash);
  }

  // remembered zooms into the span of the URL, if it has one.
  function remembered() {
    const found = /^#zoom=(-?[0-9.]+),(-?[0-9.]+)$/.exec(location.hash);
    if (found && Number(found[2]) > Number(found[1])) zoom(Number(found[1]), Number(found[2]));
  }

  // zoom shows a span alone, in all plots.
  function zoom(from, to) {
    const width = Math.max(Math.min(to - from, all), Math.min(all, 4 * all / Math.max(4, data.times.length)));
    from = Math.max(data.start, Math.min(from, data.end - width));
    range = width < all * 0.999 ? { from, to: from + width } : null;
    figures.forEach(draw);
    if (at >= 0) show(at);
    remember();
  }
  const unzoom = () => zoom(data.start, data.end);

  // kept remembers an attribute as the page had it.
  const kept = (e, name) => e.dataset[name] ??= e.getAttribute(name) || "";

  // draw draws the span into a plot: the stretched part moves, lines are drawn of all of their points, and what keeps its form has
  // new places.
  function draw(figure) {
    const svg = svgOf(figure), stretched = svg.querySelector(".stretched"), panel = panels.get(figure.dataset.panel), s = span();
    const share = (seconds) => (seconds - data.start) / all;
    const [, , , height] = stretched.getAttribute("viewBox").split(" ");
    stretched.setAttribute("viewBox", [1000 * share(s.from), 0, 1000 * (share(s.to) - share(s.from)), height].join(" "));
    stretched.setAttribute("overflow", range ? "hidden" : "visible");
    figure.classList.toggle("zoomed", range !== null);
    for (const line of stretched.querySelectorAll("[data-line]")) {
      const whole = kept(line, "d");
      line.setAttribute("d", range ? path(svg, panel, panel.lines[line.dataset.line]) : whole);
    }
    for (const e of svg.querySelectorAll(":scope > text, :scope > circle, :scope > use")) {
      const name = e.hasAttribute("cx") ? "cx" : "x", place = kept(e, name);
      if (!place.endsWith("%")) continue;
      const x = (parseFloat(place) / 100 * all + data.start - s.from) / (s.to - s.from);
      e.setAttribute(name, 100 * x + "%");
      e.style.display = range && (x < 0 || x > 1) ? "none" : "";
    }
    const ticks = svg.querySelector("g.ticks");
    svg.querySelector("g.zoom")?.remove();
    for (const e of svg.querySelectorAll(".ticks")) e.style.display = range ? "none" : "";
    if (range && ticks) svg.append(axis(svg, ticks.querySelector("text").getAttribute("y"), s));
  }

  // path returns a line of the span's points.
  function path(svg, panel, line) {
    const top = Number(svg.dataset.top), height = Number(svg.dataset.height), of = panel.log ? Math.log : (y) => y;
    const down = (v) => top + height * (1 - Math.min(1, Math.max(0, (of(Math.max(v, panel.log ? panel.low : v)) - of(panel.low)) / (of(panel.high) - of(panel.low)))));
    const across = (seconds) => (1000 * (seconds - data.start) / all).toFixed(3);
    const first = Math.max(0, nearest(range.from) - 1), last = Math.min(data.times.length - 1, nearest(range.to) + 1);
    let d = "", pen = "M";
    for (let i = first; i <= last; i++) {
      const v = line.values[i];
      if (v === null) { pen = "M"; continue; }
      const y = down(v).toFixed(1);
      d += line.step ? `${pen}${across(data.times[i])} ${y}L${across(next(i))} ${y}` : `${pen}${across(middle(i))} ${y}` + (pen === "M" ? "h0" : "");
      pen = "L";
    }
    return d;
  }

  // axis returns the ticks of a span.
  function axis(svg, y, s) {
    const most = svg.clientWidth < 360 ? 3 : 6;
    const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400].find((n) => (s.to - s.from) / n <= most) || 172800;
    const g = document.createElementNS(svg.namespaceURI, "g");
    g.setAttribute("class", "zoom");
    for (let t = Math.ceil(s.from / step) * step; t <= s.to; t += step) {
      const text = document.createElementNS(svg.namespaceURI, "text"), share = (t - s.from) / (s.to - s.from);
      text.setAttribute("class", "f-muted");
      text.setAttribute("x", 100 * share + "%");
      text.setAttribute("y", y);
      text.setAttribute("text-anchor", share < 0.02 ? "start" : share > 0.98 ? "end" : "middle");
      text.textContent = clock(t);
      g.append(text);
    }
    return g;
  }

  // pinch zooms such that what was under two fingers is under them again.
  function pinch(figure, [a, b]) {
    const plot = svgOf(figure).getBoundingClientRect(), xa = (a.x - plot.left) / plot.width, xb = (b.x - plot.left) / plot.width;
    const width = (b.seconds - a.seconds) / (xb - xa);
    if (Math.abs(xb - xa) > 0.01 && width > 0) zoom(a.seconds - xa * width, a.seconds + (1 - xa) * width);
  }

  for (const figure of figures) {
    const panel = panels.get(figure.dataset.panel);
    if (!panel) continue;
    figure.tabIndex = 0;
    figure.setAttribute("role", "group");
    figure.setAttribute("aria-label", panel.name + ". Arrow keys read points, plus and minus zoom, 0 shows all.");
    let from = null;
    const fingers = new Map(); // by pointer: what was under it, and where it is
    figure.addEventListener("pointermove", (e) => {
      if (fingers.has(e.pointerId)) fingers.get(e.pointerId).x = e.clientX;
      if (fingers.size < 2) show(nearest(secondsAt(figure, e.clientX)));
    });
    figure.addEventListener("pointerleave", () => { if (document.activeElement !== figure) show(-1); });
    figure.addEventListener("pointerdown", (e) => {
      const seconds = secondsAt(figure, e.clientX);
      from = e.pointerType === "mouse" ? seconds : null;
      if (e.pointerType === "touch") fingers.set(e.pointerId, { seconds, x: e.clientX });
    });
    figure.addEventListener("pointercancel", (e) => fingers.delete(e.pointerId));
    figure.addEventListener("pointerup", (e) => {
      const to = secondsAt(figure, e.clientX);
      if (from !== null && Math.abs(to - from) > (span().to - span().from) / 50) zoom(Math.min(from, to), Math.max(from, to));
      from = null;
      const both = [...fingers.values()];
      fingers.delete(e.pointerId);
      if (both.length === 2) { fingers.clear(); pinch(figure, both); }
    });
    figure.addEventListener("dblclick", unzoom);
    figure.addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      const last = data.times.length - 1, width = span().to - span().from;
      const keys = {
        ArrowRight: () => show(at < 0 ? 0 : Math.min(last, at + 1), true), ArrowLeft: () => show(Math.max(0, at - 1), true),
        Home: () => show(0, true), End: () => show(last, true),
        "+": () => zoom(center() - width / 4, center() + width / 4), "-": () => zoom(center() - width, center() + width), 0: unzoom,
      };
      const key = keys[{ "=": "+", Escape: "0" }[e.key] || e.key];
      if (!key) return;
      e.preventDefault();
      key();
    });
  }

  const tools = document.createElement("div");
  tools.className = "tools";
  const by = (factor) => () => { const c = center(), w = (span().to - span().from) * factor; zoom(c - w, c + w); };
  for (const [name, act] of [["Zoom in", by(1 / 4)], ["Zoom out", by(1)], ["Show all", unzoom]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    button.addEventListener("click", act);
    tools.append(button);
  }
  readout.after(tools);
  window.addEventListener("resize", () => { if (range) zoom(range.from, range.to); });
  window.addEventListener("hashchange", remembered);
  remembered();
  window.addEventListener("beforeprint", () => { unzoom(); for (const d of document.querySelectorAll("details.block")) d.open = true; });
})();
