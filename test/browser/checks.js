// Each function returns a list of texts that say what is wrong with the page as it is shown.

const shown = (e) => e.checkVisibility ? e.checkVisibility() : e.getClientRects().length > 0;
const pictures = () => [...document.querySelectorAll('[role="img"], svg:not([role="img"] *, svg *, .tools *)')].filter(shown);
const nameOf = (e) => (e.textContent || e.id || e.tagName).trim().replace(/\s+/g, ' ').slice(0, 60);
const pictureName = (svg) => `${svg.closest('section')?.id ?? ''} "${(svg.getAttribute('aria-label') ?? '').slice(0, 40)}"`;

function scrolling() {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  const wide = [...document.querySelectorAll('body *')].filter((e) => {
    if (!shown(e) || e.closest('svg') !== null && e.tagName !== 'svg') return false;
    for (let p = e.parentElement; p; p = p.parentElement) {
      if (['auto', 'scroll', 'hidden', 'clip'].includes(getComputedStyle(p).overflowX)) return false;
    }
    return e.getBoundingClientRect().right > width + 0.5;
  });
  return [`${document.documentElement.scrollWidth} px in ${width}: ${wide.slice(0, 3).map((e) => `<${e.tagName.toLowerCase()} class="${e.getAttribute('class') ?? ''}"> ${nameOf(e)}`).join('; ')}`];
}

// lines returns the boxes of a picture's texts, a little smaller than their line boxes: letters don't fill these.
function texts(svg) {
  return [...svg.querySelectorAll('text')].filter((t) => t.textContent.trim() !== '' && shown(t)).map((t) => {
    const box = t.getBoundingClientRect();
    const inset = box.height * 0.22;
    return {name: nameOf(t), left: box.left + 0.5, right: box.right - 0.5, top: box.top + inset, bottom: box.bottom - inset};
  });
}

function overlaps() {
  const found = [];
  for (const svg of pictures()) {
    const all = texts(svg);
    for (let i = 0; i < all.length; i++) {
      for (let j = i + 1; j < all.length; j++) {
        const a = all[i], b = all[j];
        if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) {
          found.push(`${pictureName(svg)}: "${a.name}" and "${b.name}"`);
        }
      }
    }
  }
  return found;
}

function cut() {
  const found = [];
  for (const svg of pictures()) {
    const box = svg.getBoundingClientRect();
    for (const t of texts(svg)) {
      if (t.left < box.left - 1 || t.right > box.right + 1 || t.top < box.top - 1 || t.bottom > box.bottom + 1) {
        found.push(`${pictureName(svg)}: "${t.name}"`);
      }
    }
  }
  if (matchMedia('print').matches) { // paper has no scroll bars
    for (const e of document.querySelectorAll('.scroll, pre')) {
      if (shown(e) && e.scrollWidth > e.clientWidth + 1) found.push(`${e.scrollWidth} px in ${e.clientWidth} px of paper: "${nameOf(e)}"`);
    }
  }
  // Cells that are cut off by their column; those that may be have a tip with the whole text.
  for (const e of document.querySelectorAll('th, td')) {
    if (shown(e) && e.scrollWidth > e.clientWidth && getComputedStyle(e).overflowX === 'hidden' && !e.title && !e.querySelector('[title]')) {
      found.push(`a cell: "${e.innerText}"`);
    }
  }
  return found;
}

// misaligned compares the pictures of a timeline, what their grids span, and where the measurement begins in them. A
// browser's boxes of lines differ by some hundredths of a pixel with the length of the line.
function misaligned() {
  const most = 0.25;
  const found = [];
  const compare = (what, spans) => {
    for (const s of spans) {
      if (Math.abs(s.left - spans[0].left) > most || Math.abs(s.right - spans[0].right) > most) {
        found.push(`${what} from ${s.left} to ${s.right}, the first from ${spans[0].left} to ${spans[0].right}`);
      }
    }
  };
  for (const timeline of document.querySelectorAll('.timeline')) {
    const panels = [...timeline.querySelectorAll('.panel .fit > svg, .panel > svg')].filter(shown);
    compare('a picture', panels.map((svg) => svg.getBoundingClientRect()));
    compare('a plot', panels.map((svg) => {
      const lines = [...svg.querySelectorAll('.s-grid')].map((e) => e.getBoundingClientRect());
      return {left: Math.min(...lines.map((l) => l.left)), right: Math.max(...lines.map((l) => l.right))};
    }).filter((s) => isFinite(s.left)));
    compare('a measurement', panels.flatMap((svg) => {
      const upright = [...svg.querySelectorAll('.s-axis')].map((e) => e.getBoundingClientRect()).filter((l) => l.width < most && l.height > 20);
      return upright.slice(0, 1);
    }));
  }
  return found;
}

function undrawn() {
  const found = [];
  for (const svg of pictures()) {
    const box = svg.getBoundingClientRect();
    if (box.width < 50 || box.height < 10 || svg.childElementCount === 0) {
      found.push(`${pictureName(svg)}: ${box.width} × ${box.height} px, ${svg.childElementCount} elements`);
    }
    if (!svg.getAttribute('aria-label')) found.push(`${pictureName(svg)}: no text for those who don't see it`);
  }
  for (const figure of document.querySelectorAll('figure')) {
    if (shown(figure) && ![...figure.querySelectorAll('[role="img"]')].some(shown)) found.push(`a figure without a picture in ${figure.closest('section')?.id}`);
  }
  for (const section of document.querySelectorAll('main > section')) if (!shown(section)) found.push(`the section ${section.id} isn't shown`);
  return found;
}

function focusable() {
  return [...document.querySelectorAll('a[href], button, summary, input, select, textarea, [tabindex="0"]')].filter((e) => shown(e) && !e.disabled);
}

function focused() {
  const e = document.activeElement;
  if (!e || e === document.body) return {Name: '', Problem: ''};
  const style = getComputedStyle(e);
  const seen = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
  return {Name: `${e.tagName.toLowerCase()} ${nameOf(e)}`, Problem: seen ? '' : `its focus can't be seen (outline ${style.outlineStyle} ${style.outlineWidth})`};
}

function focusables() {
  return focusable().length;
}

function unfold() {
  const closed = [...document.querySelectorAll('details:not([open])')];
  closed.forEach((d) => { d.open = true; });
  return closed.length;
}

function drawn() {
  return pictures().map((svg) => `${svg.getAttribute('aria-label')}: ${svg.innerHTML.length}`).join('\n');
}

function text() {
  const tools = [...document.querySelectorAll('.tools')];
  tools.forEach((e) => { e.style.display = 'none'; });
  const shownText = document.body.innerText;
  tools.forEach((e) => { e.style.display = ''; });
  return shownText;
}

function tables() {
  return [...document.querySelectorAll('table')].map((table) => ({
    Caption: table.caption ? table.caption.textContent : '',
    Rows: [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent)),
  }));
}

function injected() {
  const found = [];
  if (document.title === 'executed') found.push('a script that set the title');
  for (const e of document.querySelectorAll('img, iframe, object, embed, link, base, form, video, audio, b, svg svg:not([overflow]), main script, head script, meta[http-equiv="refresh"]')) found.push(e.outerHTML.slice(0, 100));
  for (const e of document.querySelectorAll('*')) {
    for (const a of e.attributes) {
      if (a.name.startsWith('on') || /^\s*javascript:/i.test(a.value)) found.push(`${e.tagName} ${a.name}=${a.value.slice(0, 60)}`);
    }
  }
  return found;
}

// The contrast of two colors by WCAG 2.2, https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio.
function luminance([r, g, b]) {
  const [x, y, z] = [r, g, b].map((c) => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
}

function contrast(a, b) {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

// rgb returns the parts of a color as the browser computes it; null for none.
function rgb(color) {
  const parts = (color.match(/^rgba?\(([^)]*)\)$/) ?? [])[1]?.split(/[ ,/]+/).map(Number);
  return parts && parts[3] !== 0 ? parts.slice(0, 3) : null;
}

function surface(e) {
  for (let p = e; p; p = p.parentElement) {
    const color = rgb(getComputedStyle(p).backgroundColor);
    if (color) return color;
  }
  return rgb(getComputedStyle(document.documentElement).getPropertyValue('color-scheme').includes('dark') ? 'rgb(18, 18, 18)' : 'rgb(255, 255, 255)');
}

// backgrounds are classes of marks that carry no figure: grid, bands of levels and of the warm-up, tolerances.
const backgrounds = /^f-(grid|band|plot|page|warmup|heat\d|effect\d)( s-plot)?$|^s-(grid|band|plot)$/;

// shade returns the color of the rectangle that a mark was drawn on, give or take a pixel.
function shade(e, box, rects) {
  return rects.filter((r) => r.element !== e && r.element.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING &&
    r.box.left <= box.left + 1 && box.right <= r.box.right + 1 && r.box.top <= box.top + 1 && box.bottom <= r.box.bottom + 1).at(-1)?.color;
}

function pale() {
  const found = new Set();
  for (const svg of pictures()) {
    const on = surface(svg);
    const rects = [...svg.querySelectorAll('rect')].map((e) => ({element: e, box: e.getBoundingClientRect(), color: rgb(getComputedStyle(e).fill)})).filter((r) => r.color);
    for (const t of svg.querySelectorAll('text')) {
      const box = t.getBoundingClientRect(), x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
      const under = rects.filter((r) => r.box.left <= x && x <= r.box.right && r.box.top <= y && y <= r.box.bottom).at(-1)?.color ?? on;
      const color = rgb(getComputedStyle(t).fill);
      if (color && contrast(color, under) < 4.5) found.add(`${pictureName(svg)}: text "${nameOf(t)}" has a contrast of ${contrast(color, under).toFixed(2)}`);
    }
    for (const e of svg.querySelectorAll('path, rect, circle, line')) {
      if (e.closest('pattern, defs, clipPath') || backgrounds.test(e.getAttribute('class') ?? '')) continue;
      const style = getComputedStyle(e);
      const fills = [style.fill, style.stroke].map(rgb).filter(Boolean), box = e.getBoundingClientRect();
      const under = /^f-on-/.test(e.getAttribute('class') ?? '') ? shade(e, box, rects) ?? on : on;
      const most = Math.max(...fills.map((c) => contrast(c, under)));
      if (fills.length > 0 && most < 3) found.add(`${pictureName(svg)}: ${e.tagName} class "${e.getAttribute('class') ?? ''}" has a contrast of ${most.toFixed(2)}`);
    }
  }
  return [...found];
}
