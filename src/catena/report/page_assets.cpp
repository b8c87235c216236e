#include "catena/report/page_assets.h"

namespace catena::report {

const std::string_view page_style = R"css(
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main, header, footer { max-width: 1060px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 48px; }
h1 { font-size: 1.9rem; line-height: 1.2; font-weight: 650; letter-spacing: -0.01em; margin: 0 0 .35rem; overflow-wrap: anywhere; }
header p { margin: 0; color: var(--muted); }
section { margin-top: 44px; }
h2 { font-size: 1.2rem; font-weight: 620; margin: 0 0 .7rem; }
ul.findings { list-style: none; padding: 0; margin: 0; }
ul.findings li { position: relative; padding: .5rem 0 .5rem 1.9rem; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
ul.findings li:last-child { border-bottom: 1px solid var(--line); }
ul.findings li::before { position: absolute; left: .1rem; font-weight: 700; }
li.good::before { content: "✓"; color: var(--posterior); }
li.note::before { content: "•"; color: var(--muted); }
li.warning::before { content: "!"; color: var(--truth); left: .25rem; }
figure { margin: 0; }
.key { display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; margin: 0 0 .8rem; padding: 0; list-style: none;
  font-size: .875rem; color: var(--muted); }
.key li { display: flex; align-items: center; gap: .5rem; }
.key i { display: inline-block; flex: none; width: 18px; height: 0; border-top: 2px solid var(--colour); }
.key i.area { height: 12px; border: 0; border-radius: 2px; background: var(--colour); opacity: .45; }
.key i.dot { width: 9px; height: 9px; border: 0; border-radius: 50%; background: var(--colour); }
.save { float: right; font: inherit; font-size: .8rem; color: var(--muted); background: none; border: 1px solid var(--line);
  border-radius: 4px; padding: .1rem .5rem; cursor: pointer; }
.plot { overflow-x: auto; clear: right; }
@media print { .save { display: none; } }
.plot svg { display: block; max-width: none; }
figcaption { margin-top: .5rem; font-size: .875rem; color: var(--muted); }
.missing { padding: .8rem 1rem; border: 1px dashed var(--line); color: var(--muted); border-radius: 6px; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .38rem 0 .38rem .9rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
th { font-weight: 500; color: var(--muted); }
th:first-child, td:first-child { padding-left: 0; }
th:first-child, td:first-child, table.plain td, table.plain th { text-align: left; }
table.plain td:last-child { white-space: normal; color: var(--muted); }
table.wide { width: 100%; }
.table + .key { margin-top: .5rem; }
td.name { max-width: 16rem; overflow: hidden; text-overflow: ellipsis; }
td.alarm { color: var(--truth); font-weight: 600; }
details { border-bottom: 1px solid var(--line); }
details:first-of-type { border-top: 1px solid var(--line); }
summary { padding: .5rem 0; cursor: pointer; overflow-wrap: anywhere; }
summary span { color: var(--muted); }
dl { display: grid; grid-template-columns: minmax(7rem, 14rem) 1fr; gap: .15rem 1rem; margin: 0 0 .9rem; font-size: .875rem; }
dt { color: var(--muted); overflow-wrap: anywhere; }
dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
footer { margin-top: 48px; padding-bottom: 40px; color: var(--muted); font-size: .875rem; }
@media (max-width: 600px) {
  main, header, footer { padding-left: 16px; padding-right: 16px; }
  header { padding-top: 28px; }
  h1 { font-size: 1.5rem; }
  section { margin-top: 34px; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .35rem; }
}
@media print {
  body { font-size: 10.5pt; }
  main, header, footer { max-width: none; padding: 0; }
  header { padding-top: 0; }
  section { margin-top: 22pt; }
  figure, ul.findings li, tr { break-inside: avoid; }
  h2 { break-after: avoid; }
  .plot, .table { overflow: visible; }
  table { font-size: 7.5pt; }
  th, td { padding-left: .45rem; }
  td.name { max-width: 8rem; }
  .plot svg { max-width: 100%; height: auto; }
}
)css";

const std::string_view page_script = R"js(
(() => {
  "use strict";
  const figures = JSON.parse(document.getElementById("catena-figures").textContent);
  const config = JSON.parse(document.getElementById("catena-config").textContent);

  // The specification with views of this width, in this many columns.
  function sized(spec, width, columns) {
    const copy = structuredClone(spec), layout = spec.usermeta.catena;
    for (const view of copy.concat) {
      view.width = width;
      view.height = layout.height || Math.round(width * layout.aspect);
      for (const { encoding } of view.layer || []) {
        for (const [channel, length] of [["x", view.width], ["y", view.height]]) {
          const axis = encoding[channel]?.axis;
          if (axis) Object.assign(axis, { titleLimit: length }, width < 110 && { tickCount: 2 });  // room for two labels
        }
      }
    }
    delete copy.title;
    delete copy.$schema;  // version 5, which version 6 would remark on
    return Object.assign(copy, { columns, config, background: null, padding: 2 });
  }

  // Axes take a width that is known only after drawing: draw, measure what is too much or too little, draw again.
  async function draw(plot, spec) {
    const room = plot.clientWidth, layout = spec.usermeta.catena;
    let around = 64, width = 0, columns = layout.columns;
    for (let round = 0; round < 3; ++round) {
      columns = layout.columns;
      const fit = (n) => Math.floor((room - around - (n - 1) * layout.spacing) / n);
      if (!layout.fixed) while (columns > 1 && fit(columns) < layout.least) --columns;
      const wanted = Math.max(layout.least, Math.min(layout.most, fit(columns)));
      if (wanted === width) break;
      width = wanted;
      await vegaEmbed(plot, sized(spec, width, columns),
        { mode: "vega-lite", renderer: "svg", actions: false, tooltip: false, defaultStyle: false });
      const taken = plot.querySelector("svg").getBoundingClientRect().width;
      around = Math.ceil(taken - columns * width - (columns - 1) * layout.spacing);
    }
    plot.dataset.drawn = "yes";
    const button = document.querySelector(`button.save[data-figure="${plot.dataset.figure}"]`);
    if (button) Object.assign(button, { hidden: false, onclick: () => save(plot) });
  }

  // The figure as it stands, in the colours of the page's variables.
  function save(plot) {
    const svg = plot.querySelector("svg").cloneNode(true), style = getComputedStyle(document.documentElement);
    svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    const text = new XMLSerializer().serializeToString(svg)
      .replace(/var\((--[a-z]+)\)/g, (whole, name) => style.getPropertyValue(name).trim() || whole);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    link.download = plot.dataset.figure + ".svg";
    link.click();
    URL.revokeObjectURL(link.href);
  }

  let last = 0;
  async function drawAll() {
    last = document.documentElement.clientWidth;
    for (const plot of document.querySelectorAll(".plot")) {
      try {
        await draw(plot, figures[plot.dataset.figure]);
      } catch (error) {
        plot.textContent = "This figure cannot be drawn: " + error.message;
        console.error(error);
      }
    }
    document.documentElement.dataset.drawn = "yes";
  }
  let timer = 0;
  addEventListener("resize", () => {
    clearTimeout(timer);
    timer = setTimeout(() => { if (document.documentElement.clientWidth !== last) drawAll(); }, 150);
  });
  addEventListener("beforeprint", () => { for (const d of document.querySelectorAll("details")) d.open = true; });
  drawAll();
})();
)js";

}  // namespace catena::report
