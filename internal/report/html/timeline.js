"use strict";
// A closer look at the plots over time: a cursor through all of them, its figures in words, and zoom. The page is whole
// without it. The data are in the element "series"; names and texts of it are only ever set as text.
(function () {
  var element = document.getElementById("series");
  var timeline = document.querySelector(".timeline");
  if (!element || !timeline) return;
  var data = JSON.parse(element.textContent);
  var readout = timeline.querySelector("[data-readout]");
  var spoken = timeline.querySelector("[data-spoken]");
  var hint = readout.textContent;
  var figures = Array.prototype.slice.call(timeline.querySelectorAll("[data-lane]"));
  data.lanes.forEach(function (l) { // a figure that all points share is there once
    l.lines.forEach(function (line) { if (!line.values) line.values = data.times.map(function () { return line.all; }); });
  });
  var lanes = {};
  data.lanes.forEach(function (l) { lanes[l.id] = l; });
  var at = -1; // the point of the cursor
  var range = null; // the zoomed span in seconds
  var plots = [];

  function round(x) { // 3 significant digits, thousands with commas
    if (x === null || x === undefined) return "-";
    if (x === 0) return "0";
    var exponent = Math.floor(Math.log10(Math.abs(x)));
    var text = Number(x.toPrecision(3));
    exponent = Math.floor(Math.log10(Math.abs(text)));
    return text.toLocaleString("en-US", { minimumFractionDigits: Math.max(0, 2 - exponent), maximumFractionDigits: Math.max(0, 2 - exponent) });
  }

  function clock(s) {
    var whole = Math.round(Math.abs(s)), sign = s < 0 && whole > 0 ? "−" : "";
    function two(n) { return (n < 10 ? "0" : "") + n; }
    if (data.end < 120) return sign + whole + "\u202fs";
    if (data.end < 7200) return sign + Math.floor(whole / 60) + ":" + two(whole % 60);
    return sign + Math.floor(whole / 3600) + ":" + two(Math.floor(whole / 60) % 60);
  }

  function visible(figure) { return figure.closest("details:not([open])") === null; }

  function place(figure) { // the plot's place in pixels of the page
    if (figure.classList.contains("zoomed")) return figure.plot;
    var svgs = figure.querySelectorAll("svg");
    for (var i = 0; i < svgs.length; i++) {
      var width = svgs[i].getBoundingClientRect().width;
      if (width > 0) {
        var p = data.places[i], by = width / p.width;
        return { left: p.left * by, width: (p.width - p.left - p.right) * by };
      }
    }
    return { left: 0, width: 1 };
  }

  function span() { return range || { from: data.start, to: data.end }; }

  function middle(i) { return (data.times[i] + (i + 1 < data.times.length ? data.times[i + 1] : data.end)) / 2; }

  function sentence(i) {
    var parts = [];
    data.lanes.forEach(function (l) {
      var figure = timeline.querySelector('[data-lane="' + l.id + '"]');
      if (l.id === "load" || l.heat || !figure || !visible(figure)) return;
      l.lines.forEach(function (line) {
        var v = line.values[i];
        if (v === null || l.stack && v === 0) return;
        var name = line.name + (l.short ? " " + l.short : "");
        parts.push(line.name === l.unit ? round(v) + "\u202f" + l.unit : name + " " + round(v) + (l.unit === "%" ? "%" : "\u202f" + l.unit));
      });
    });
    return "at " + clock(data.times[i]) + ": " + parts.join(" · ");
  }

  function show(i, speak) {
    at = i;
    figures.forEach(function (figure) {
      var line = figure.querySelector(".cursor");
      if (!line) {
        line = document.createElement("div");
        line.className = "cursor";
        figure.appendChild(line);
      }
      var s = span(), p = place(figure), share = i < 0 ? -1 : (middle(i) - s.from) / (s.to - s.from);
      line.hidden = share < 0 || share > 1;
      line.style.left = p.left + share * p.width + "px";
    });
    readout.textContent = i < 0 ? hint : sentence(i);
    if (speak) spoken.textContent = readout.textContent;
  }

  function nearest(seconds) {
    var low = 0, high = data.times.length - 1;
    while (low < high) {
      var half = (low + high + 1) >> 1;
      if (data.times[half] <= seconds) low = half; else high = half - 1;
    }
    return low;
  }

  function secondsAt(figure, event) {
    var p = place(figure), s = span(), x = event.clientX - figure.getBoundingClientRect().left;
    return s.from + (x - p.left) / p.width * (s.to - s.from);
  }

  function cssColor(name) { return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim(); }

  // remember keeps the zoomed span in the URL. A page in a frame may not change its URL.
  function remember() {
    var hash = range ? "#zoom=" + Number(range.from.toFixed(3)) + "," + Number(range.to.toFixed(3)) : "#";
    if (!range && location.hash.indexOf("#zoom=") !== 0) return;
    try { history.replaceState(null, "", hash); } catch (e) { if (e.name !== "SecurityError") throw e; }
  }

  // remembered zooms into the span of the URL, if it has one.
  function remembered() {
    var found = /^#zoom=(-?[0-9.]+),(-?[0-9.]+)$/.exec(location.hash);
    if (found && Number(found[2]) > Number(found[1])) zoom(Number(found[1]), Number(found[2]));
  }

  function unzoom() {
    restore();
    remember();
  }

  // restore puts the pictures back.
  function restore() {
    plots.forEach(function (plot) { plot.destroy(); });
    plots = [];
    range = null;
    figures.forEach(function (f) { f.classList.remove("zoomed"); f.querySelectorAll(".zoom").forEach(function (e) { e.remove(); }); });
    if (at >= 0) show(at);
  }

  // zoom replaces the pictures of a span by plots that show it alone.
  function zoom(from, to) {
    var all = data.end - data.start, width = Math.min(to - from, all), least = 4 * all / Math.max(4, data.times.length);
    width = Math.max(width, Math.min(least, all));
    if (width >= all * 0.999) { unzoom(); return; }
    from = Math.max(data.start, Math.min(from, data.end - width));
    var kept = at;
    restore();
    range = { from: from, to: from + width };
    figures.forEach(function (figure) {
      var lane = lanes[figure.dataset.lane];
      if (lane && visible(figure)) plots.push(draw(figure, lane));
      if (figure.dataset.lane === "findings" && data.marks) markLane(figure);
    });
    at = kept;
    if (at >= 0) show(at);
    remember();
  }

  // pinch zooms such that what was under two fingers is under them again.
  function pinch(figure, fingers) {
    var p = place(figure), left = figure.getBoundingClientRect().left;
    var a = fingers[0], b = fingers[1], xa = (a.x - left - p.left) / p.width, xb = (b.x - left - p.left) / p.width;
    if (Math.abs(xb - xa) < 0.01 || a.seconds === b.seconds) return;
    var width = (b.seconds - a.seconds) / (xb - xa);
    if (width > 0) zoom(a.seconds - xa * width, a.seconds + (1 - xa) * width);
  }

  // inside returns the marks with a time in the zoomed span.
  function inside() { return (data.marks || []).filter(function (m) { return m.at >= 0 && m.at >= range.from && m.at <= range.to; }); }

  // markLane shows which findings and breaking points lie in the zoomed span.
  function markLane(figure) {
    var p = place(figure), box = document.createElement("div");
    figure.plot = p;
    box.className = "zoom marks";
    var texts = inside().map(function (m) { return (m.number ? m.number + " " : "") + m.text + " at " + clock(m.at); });
    var whole = data.marks.filter(function (m) { return m.at < 0; }).map(function (m) { return m.number; });
    if (whole.length) texts.push("about all of the measurement: " + whole.join(", "));
    var text = document.createElement("p");
    text.className = "lane-title";
    text.textContent = "findings: " + (texts.join("; ") || "none in this span");
    box.appendChild(text);
    figure.appendChild(box);
    figure.classList.add("zoomed");
  }

  // hairlines draws the marks of the span into a zoomed plot.
  function hairlines(u) {
    u.ctx.save();
    u.ctx.strokeStyle = cssColor("text");
    u.ctx.setLineDash([1, 3]);
    inside().forEach(function (m) {
      var x = Math.round(u.valToPos(m.at, "x", true));
      u.ctx.beginPath();
      u.ctx.moveTo(x, u.bbox.top);
      u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
      u.ctx.stroke();
    });
    u.ctx.restore();
  }

  function draw(figure, lane) {
    var box = document.createElement("div");
    box.className = "zoom";
    var title = document.createElement("p");
    title.className = "lane-title";
    title.textContent = lane.name + (lane.heat ? "; its shades are shown without zoom" : "");
    box.appendChild(title);
    var p = place(figure), height = figure.clientHeight;
    figure.plot = p;
    figure.appendChild(box);
    figure.classList.add("zoomed");
    var sums = null;
    var values = lane.lines.map(function (line) {
      if (!lane.stack) return line.values;
      sums = line.values.map(function (v, i) { return (v || 0) + (sums ? sums[i] : 0); });
      return sums;
    });
    var series = lane.lines.map(function (line, i) {
      var color = cssColor(line.color), one = { label: line.name, stroke: color, width: line.dots ? 0 : 1.5, spanGaps: false, points: { show: !!line.dots || undefined, size: 3, width: 0, fill: color } };
      if (line.dash) one.dash = line.dash.split(" ").map(Number);
      if (line.step || lane.stack) one.paths = uPlot.paths.stepped({ align: 1 });
      if (lane.stack) one.fill = color;
      return one;
    });
    if (lane.stack) { values.reverse(); series.reverse(); }
    var axis = { stroke: cssColor("muted"), grid: { stroke: cssColor("grid"), width: 1 }, ticks: { stroke: cssColor("axis"), width: 1, size: 4 }, gap: 4, font: "12px system-ui, sans-serif" };
    var plot = new uPlot({
      width: figure.clientWidth, height: Math.max(72, height - 18), padding: [8, figure.clientWidth - p.left - p.width, 0, 0],
      legend: { show: false }, cursor: { show: false }, hooks: { draw: [hairlines] },
      scales: { x: { time: false, range: [range.from, range.to] }, y: { distr: lane.log ? 3 : 1, range: [lane.low, lane.high] } },
      axes: [
        Object.assign({}, axis, { size: 24, grid: { show: false }, incrs: [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400], values: function (u, v) { return v.map(clock); } }),
        Object.assign({}, axis, { size: p.left, splits: function () { return lane.ticks.map(function (t) { return t.value; }); }, values: function () { return lane.ticks.map(function (t) { return t.label; }); } })
      ],
      series: [{}].concat(series)
    }, [lane.stack || lane.lines.every(function (line) { return line.step; }) ? data.times : data.times.map(function (_, i) { return middle(i); })].concat(values), box);
    return plot;
  }

  figures.forEach(function (figure) {
    if (!lanes[figure.dataset.lane]) return;
    figure.tabIndex = 0;
    figure.setAttribute("role", "group");
    figure.setAttribute("aria-label", lanes[figure.dataset.lane].name + ". Arrow keys read points, plus and minus zoom, 0 shows all.");
    var from = null;
    var fingers = {}; // by pointer: what was under it, and where it is
    figure.addEventListener("pointermove", function (e) {
      if (fingers[e.pointerId]) fingers[e.pointerId].x = e.clientX;
      if (Object.keys(fingers).length < 2) show(nearest(secondsAt(figure, e)));
    });
    figure.addEventListener("pointerleave", function () { if (document.activeElement !== figure) show(-1); });
    figure.addEventListener("pointerdown", function (e) { 
      from = e.pointerType === "mouse" ? secondsAt(figure, e) : null;
      if (e.pointerType === "touch") fingers[e.pointerId] = { seconds: secondsAt(figure, e), x: e.clientX };
    });
    figure.addEventListener("pointercancel", function (e) { delete fingers[e.pointerId]; });
    figure.addEventListener("pointerup", function (e) {
      var to = secondsAt(figure, e);
      if (from !== null && Math.abs(to - from) > (span().to - span().from) / 50) zoom(Math.min(from, to), Math.max(from, to));
      from = null;
      var both = Object.keys(fingers).map(function (id) { return fingers[id]; });
      if (both.length === 2) { fingers = {}; pinch(figure, both); }
      delete fingers[e.pointerId];
    });
    figure.addEventListener("dblclick", unzoom);
    figure.addEventListener("keydown", function (e) {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      var last = data.times.length - 1, s = span(), center = at < 0 ? (s.from + s.to) / 2 : middle(at), width = s.to - s.from;
      switch (e.key) {
        case "ArrowRight": show(at < 0 ? 0 : Math.min(last, at + 1), true); break;
        case "ArrowLeft": show(Math.max(0, at - 1), true); break;
        case "Home": show(0, true); break;
        case "End": show(last, true); break;
        case "+": case "=": zoom(center - width / 4, center + width / 4); break;
        case "-": zoom(center - width, center + width); break;
        case "0": case "Escape": unzoom(); break;
        default: return;
      }
      e.preventDefault();
    });
  });

  var tools = document.createElement("div");
  tools.className = "tools";
  [["Zoom in", function () { var s = span(), c = at < 0 ? (s.from + s.to) / 2 : middle(at), w = (s.to - s.from) / 4; zoom(c - w, c + w); }],
    ["Zoom out", function () { var s = span(), c = (s.from + s.to) / 2, w = s.to - s.from; zoom(c - w, c + w); }],
    ["Show all", unzoom]].forEach(function (tool) {
    var button = document.createElement("button");
    button.type = "button";
    button.textContent = tool[0];
    button.addEventListener("click", tool[1]);
    tools.appendChild(button);
  });
  readout.after(tools);
  window.addEventListener("resize", function () { if (range) { var r = range; zoom(r.from, r.to); } });
  window.addEventListener("hashchange", remembered);
  remembered();
  window.addEventListener("beforeprint", function () { restore(); document.querySelectorAll("details").forEach(function (d) { d.open = true; }); });
})();
