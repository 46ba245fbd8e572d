// How a card lies on the screen. Each list has at most ten examples, as short texts.
"use strict";
globalThis.layout = (() => {
  const { seen, box, all } = probe;
  const short = (e) => (e.tagName.toLowerCase() + " " + JSON.stringify((e.innerText ?? e.textContent ?? "").trim().slice(0, 40))).slice(0, 80);
  const scrolls = (e) => { const s = getComputedStyle(e); return /auto|scroll/.test(s.overflowX); };
  const inScroller = (e) => { for (let p = e.parentElement; p && p !== document.body; p = p.parentElement) if (scrolls(p)) return true; return false; };

  function overflow() {
    const width = document.documentElement.clientWidth, out = [];
    for (const e of all()) {
      if (out.length >= 10) break;
      const r = box(e);
      if (seen(e) && (r.right > width + 1 || r.left < -1) && !inScroller(e)) out.push(`${short(e)}: ${Math.round(r.left)} to ${Math.round(r.right)} of ${width}`);
    }
    const page = document.documentElement.scrollWidth;
    if (page > width + 1 && out.length === 0) out.push(`the page is ${page} wide, of ${width}`);
    return out;
  }

  // The boxes of runs of text, each with the element that holds it.
  function lines() {
    const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let n = walker.nextNode(); n && found.length < 600; n = walker.nextNode()) {
      const e = n.parentElement;
      if (!n.data.trim() || !e || ["SCRIPT", "STYLE", "NOSCRIPT", "OPTION"].includes(e.tagName) || !seen(e)) continue;
      const range = document.createRange();
      range.selectNodeContents(n);
      for (const r of range.getClientRects()) if (r.width > 1 && r.height > 1) found.push({ e, r, text: n.data.trim() });
    }
    return found;
  }

  function clipped(runs) {
    const out = new Set();
    for (const { e, r, text } of runs) {
      if (out.size >= 10) break;
      for (let p = e; p && p !== document.documentElement; p = p.parentElement) {
        const s = getComputedStyle(p), b = box(p);
        const cutX = /hidden|clip/.test(s.overflowX), cutY = /hidden|clip/.test(s.overflowY);
        if (scrolls(p) || /auto|scroll/.test(s.overflowY)) break;
        if ((cutX && (r.right > b.right + 1.5 || r.left < b.left - 1.5)) || (cutY && (r.bottom > b.bottom + 3 || r.top < b.top - 3))) { out.add(`${short(e)} is cut off by ${p.tagName.toLowerCase()}`); break; }
      }
      const s = getComputedStyle(e), b = box(e);
      if (s.overflowX === "visible" && s.display !== "inline" && !e.closest("svg") && (r.right > b.right + 2 || r.left < b.left - 2)) out.add(`${JSON.stringify(text.slice(0, 40))} runs out of its box`);
    }
    return [...out];
  }

  function overlaps(runs) {
    const out = new Set();
    for (let i = 0; i < runs.length && out.size < 10; i++) for (let j = i + 1; j < runs.length; j++) {
      const a = runs[i], b = runs[j];
      if (a.e === b.e && !upon(a.r, b.r) || a.e !== b.e && a.e.contains(b.e) && getComputedStyle(b.e).position === "static" && a.e === b.e.parentElement && sameLine(a.r, b.r)) continue;
      const w = Math.min(a.r.right, b.r.right) - Math.max(a.r.left, b.r.left), h = Math.min(a.r.bottom, b.r.bottom) - Math.max(a.r.top, b.r.top);
      if (w > 2 && h > 4 && w * h > 0.2 * Math.min(a.r.width * a.r.height, b.r.width * b.r.height)) out.add(`${JSON.stringify(a.text.slice(0, 30))} and ${JSON.stringify(b.text.slice(0, 30))}`);
    }
    return [...out];
  }
  // Lines of one text lie upon each other when they share more than half of their height.
  const upon = (a, b) => Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.5 * Math.min(a.height, b.height);
  const sameLine = (a, b) => Math.abs(a.top - b.top) < 2 && (a.right <= b.left + 2 || b.right <= a.left + 2);

  function fonts(runs) {
    let least = 1000, where = "", sizes = [];
    for (const { e, text } of runs) {
      let size = parseFloat(getComputedStyle(e).fontSize);
      const svg = e.closest("svg");
      if (svg?.viewBox?.baseVal?.width) size *= box(svg).width / svg.viewBox.baseVal.width || 1;
      if (size < least) { least = size; where = text.slice(0, 40); }
      sizes.push([size, text.length]);
    }
    sizes.sort((a, b) => a[0] - b[0]);
    const half = sizes.reduce((s, x) => s + x[1], 0) / 2;
    let sum = 0, median = 16;
    for (const [size, n] of sizes) if ((sum += n) >= half) { median = size; break; }
    return { least: sizes.length ? least : 16, where, median };
  }

  // The longest stretch from top to bottom in which there is nothing to see, as a part of
  // the height.
  function empty(runs) {
    const marks = runs.map((x) => [x.r.top, x.r.bottom]);
    for (const e of all()) if (/^(img|svg|canvas|input|button|select|textarea|video)$/i.test(e.tagName) && seen(e)) { const r = box(e); marks.push([r.top, r.bottom]); }
    marks.sort((a, b) => a[0] - b[0]);
    const top = box(document.body).top, height = box(document.body).height;
    let at = top, gap = 0;
    for (const [a, b] of marks) { gap = Math.max(gap, a - at); at = Math.max(at, b); }
    gap = Math.max(gap, top + height - at);
    return { gap, height };
  }

  function measure(screenful) {
    scrollTo(0, 0);
    const runs = lines(), e = empty(runs);
    return {
      overflow: overflow(), clipped: clipped(runs), overlaps: overlaps(runs), fonts: fonts(runs),
      first: runs.filter((x) => x.r.bottom <= screenful).map((x) => x.text).join("\n"), height: e.height, gap: e.gap, nodes: document.getElementsByTagName("*").length,
      words: probe.text().trim().split(/\s+/).filter(Boolean).length,
      shown: all().filter((x) => seen(x)).length, chars: document.body.innerText.replace(/\s/g, "").length,
      graphics: all().filter((x) => /^(svg|canvas|img)$/i.test(x.tagName) && seen(x)).length,
    };
  }
  return { measure, overflow };
})();
