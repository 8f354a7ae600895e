// SPDX-License-Identifier: GPL-3.0-or-later
// The page's style and script. A change to the script changes its hash: tests/unit/test_draw.cc says the new one.
#include "src/draw/page.h"

namespace squall::draw {

const char* const kPageStyle = R"css(
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#57606a;--rule:#d8dee4;--wash:#f3f5f7;--focus:#0550ae;
--t1:#2f6fb7;--t2:#d9822b;--t3:#2e8b57;--t4:#7d57c1;--t5:#c43c35;--t6:#1397a0;--t7:#946b2d;--t8:#6e7781}
@media screen and (prefers-color-scheme:dark){:root{--paper:#0f1318;--ink:#e6eaef;--soft:#a3acb7;--rule:#313943;
--wash:#191f27;--focus:#79b8ff;--t1:#5b9be3;--t2:#e59a4c;--t3:#4fb37b;--t4:#a585e6;--t5:#ee6a62;--t6:#3fbac2;
--t7:#bf955a;--t8:#8d96a0}}
@media print{:root{color-scheme:light}body{max-width:none;font-size:10pt}nav,.readout,details{display:none!important}
figure,tr,h2{break-inside:avoid}h2{break-after:avoid}.scroll{overflow:visible!important}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:72rem;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,"DejaVu Sans",sans-serif}
h1{font-size:1.5rem;line-height:1.25;margin:.2rem 0}h2{font-size:1.2rem;margin:2rem 0 .6rem;
border-top:1px solid var(--rule);padding-top:1rem}
header p,footer,.note,.readout{color:var(--soft)}header p{overflow-wrap:anywhere}
nav ul,.key{list-style:none;display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;padding:0;margin:.6rem 0}
a{color:var(--focus)}
figure{margin:1.2rem 0 1.8rem}figcaption{font-weight:600}.note{margin:.1rem 0;font-size:.87rem}
.key li{font-size:.87rem}.key svg{vertical-align:-1px}
.readout{min-height:1.5em;margin:.2rem 0;font-size:.87rem}
details summary{cursor:pointer;font-size:.87rem;color:var(--soft)}
.scroll{overflow-x:auto;max-height:30rem}
table{border-collapse:collapse;font-size:.87rem;font-variant-numeric:tabular-nums}caption{text-align:left;
color:var(--soft);padding:.2rem 0}
th,td{padding:.2rem .7rem .2rem 0;text-align:right;border-bottom:1px solid var(--rule);white-space:nowrap}
th:first-child{text-align:left;position:sticky;left:0;background:var(--paper)}
svg.chart{display:block;overflow:visible;max-width:100%}
svg text{fill:var(--ink);font-size:12px}svg .label{font-weight:600}svg .tick{fill:var(--soft);font-size:11px}
svg .inside{fill:#fff;font-size:10.5px;pointer-events:none}
@media screen and (prefers-color-scheme:dark){svg .inside{fill:#0b0e12}}
.grid{stroke:var(--rule);stroke-width:1}.lane{fill:var(--wash)}.stripe{fill:var(--paper)}
.level{stroke:var(--ink);stroke-width:1.2;stroke-dasharray:5 4}.now{stroke:var(--t5);stroke-width:2}
.band{fill:transparent}.band:hover,.band:focus{fill:var(--ink);fill-opacity:.09}
.t1{fill:var(--t1)}.t2{fill:var(--t2)}.t3{fill:var(--t3)}.t4{fill:var(--t4)}.t5{fill:var(--t5)}.t6{fill:var(--t6)}
.t7{fill:var(--t7)}.t8{fill:var(--t8)}
.t1.hatched{fill:url(#h1)}.t2.hatched{fill:url(#h2)}.t3.hatched{fill:url(#h3)}.t4.hatched{fill:url(#h4)}
.t5.hatched{fill:url(#h5)}.t6.hatched{fill:url(#h6)}.t7.hatched{fill:url(#h7)}.t8.hatched{fill:url(#h8)}
.curve{fill:none!important;stroke-width:2;vector-effect:non-scaling-stroke}.dashed{stroke-dasharray:6 4}
.t1.curve{stroke:var(--t1)}.t2.curve{stroke:var(--t2)}.t3.curve{stroke:var(--t3)}.t4.curve{stroke:var(--t4)}
.t5.curve{stroke:var(--t5)}.t6.curve{stroke:var(--t6)}.t7.curve{stroke:var(--t7)}.t8.curve{stroke:var(--t8)}
.mark:hover{opacity:.8}.mark:focus{outline:none;stroke:var(--ink);stroke-width:2.5}
svg.chart:focus-visible,.scroll:focus-visible,summary:focus-visible,a:focus-visible{outline:2px solid var(--focus);
outline-offset:3px}
)css";

const char* const kPageScript = R"js(
"use strict";
for (const chart of document.querySelectorAll("svg.chart")) {
  const marks = [...chart.querySelectorAll(".mark")], readout = chart.parentElement.querySelector(".readout");
  if (!marks.length || !readout) continue;
  const rows = [...chart.querySelectorAll(".row")].map(r => [...r.querySelectorAll(".mark")]).filter(r => r.length);
  const read = mark => { readout.textContent = mark.querySelector("title").textContent; };
  const middle = mark => { const b = mark.getBoundingClientRect(); return b.left + b.width / 2; };
  const hint = "Arrow keys walk through the marks.";
  const sideways = (mark, step) => marks[Math.min(marks.length - 1, Math.max(0, marks.indexOf(mark) + step))];
  const upright = (mark, step) => {
    const at = rows.findIndex(r => r.includes(mark)), row = rows[at + step];
    if (at < 0) return sideways(mark, step);
    return row ? row.reduce((a, b) => Math.abs(middle(b) - middle(mark)) < Math.abs(middle(a) - middle(mark)) ? b : a) : mark;
  };
  const moves = {ArrowRight: m => sideways(m, 1), ArrowLeft: m => sideways(m, -1), ArrowDown: m => upright(m, 1),
    ArrowUp: m => upright(m, -1), Home: () => marks[0], End: () => marks[marks.length - 1]};
  chart.addEventListener("keydown", event => {
    const mark = event.target.closest(".mark");
    if (event.key === "Escape" && mark) { chart.focus(); return; }
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    (mark ? move(mark) : marks[0]).focus();
  });
  chart.addEventListener("focusin", event => {
    if (event.target.classList.contains("mark")) read(event.target); else readout.textContent = hint;
  });
  chart.addEventListener("pointerover", event => { const m = event.target.closest(".mark"); if (m) read(m); });
}
)js";

const char* const kPageScriptHash = "AQZ+UBiKX/xaNOOuzp4+hbe3XPqNm73MYj73biSYzJs=";

}  // namespace squall::draw
