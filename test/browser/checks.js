// Each function returns a list of texts that say what is wrong with the page as it is shown.

const shown = (e) => e.checkVisibility ? e.checkVisibility() : e.getClientRects().length > 0;
const pictures = () => [...document.querySelectorAll('svg')].filter(shown);
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
  return [...svg.querySelectorAll('text')].filter((t) => t.textContent.trim() !== '').map((t) => {
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
  return found;
}

function misaligned() {
  const found = [];
  for (const timeline of document.querySelectorAll('.timeline')) {
    const lanes = [...timeline.querySelectorAll('.lane svg')].filter(shown).map((svg) => svg.getBoundingClientRect());
    for (const lane of lanes) {
      if (Math.abs(lane.left - lanes[0].left) > 0.01 || Math.abs(lane.width - lanes[0].width) > 0.01) {
        found.push(`a plot from ${lane.left} to ${lane.right}, the first from ${lanes[0].left} to ${lanes[0].right}`);
      }
    }
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
    if (shown(figure) && ![...figure.querySelectorAll('svg, canvas')].some(shown)) found.push(`a figure without a picture in ${figure.closest('section')?.id}`);
  }
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
