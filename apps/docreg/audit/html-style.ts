/** The style sheet of the report, for light and dark screens and for A4 paper. */
export const STYLE = `
:root { color-scheme: light dark; --paper: #f7f5f0; --sheet: #fffefb; --ink: #1c1d20; --soft: #55575d;
  --line: #dcd8ce; --good: #1a6340; --good-wash: #e6f1ea; --bad: #9c2318; --bad-wash: #fae9e6;
  --past: #7a4b00; --one: #24487a; --two: #9c2318; }
@media screen and (prefers-color-scheme: dark) { :root { --paper: #131417; --sheet: #1c1e22;
  --ink: #ecebe6; --soft: #b1b2b6; --line: #34373e; --good: #86d3a7; --good-wash: #16281e;
  --bad: #ff9f93; --bad-wash: #321a18; --past: #edc27a; --one: #a9c6f5; --two: #ff9f93; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 2rem 1.25rem 3rem; background: var(--paper);
  color: var(--ink); font: 100%/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
h1 { margin: 0; font: 600 2rem/1.2 "Iowan Old Style", Palatino, "Noto Serif", Georgia, serif; overflow-wrap: anywhere; }
h2 { margin: 2.25rem 0 .75rem; font-size: 1.15rem; }
.kind { margin: 0 0 .5rem; color: var(--soft); font-size: .85rem; letter-spacing: .04em; text-transform: uppercase; }
.sub { margin: .25rem 0 1.5rem; color: var(--soft); overflow-wrap: anywhere; }
.test { padding: .5rem 1rem; border: 2px dashed var(--past); color: var(--past); font-weight: 600; }
code { font: .88em ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; overflow-wrap: anywhere; }
.verdict { padding: 1rem 1.25rem; border-left: .4rem solid; border-radius: .25rem; }
.verdict p { margin: .25rem 0; color: var(--ink); }
.verdict .word { font: 600 1.6rem/1.2 "Iowan Old Style", Palatino, "Noto Serif", Georgia, serif; color: inherit; }
.verdict .block { color: var(--soft); font-size: .9rem; }
.good { background: var(--good-wash); border-color: var(--good); color: var(--good); }
.bad { background: var(--bad-wash); border-color: var(--bad); color: var(--bad); }
.open, .empty { background: var(--sheet); border-color: var(--past); color: var(--past); }
.basis { color: var(--soft); font-size: .85rem; }
.figures { display: grid; grid-template-columns: repeat(4, 1fr); margin: 1.5rem 0; padding: 1px 0 0 1px; }
.figures div { display: flex; flex-direction: column; padding: .75rem 1rem; background: var(--sheet);
  margin: -1px 0 0 -1px; border: 1px solid var(--line); }
.figures dd { margin: 0; font-size: 1.5rem; font-variant-numeric: tabular-nums; }
.figures dt { color: var(--soft); font-size: .85rem; }
.wide { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; background: var(--sheet); font-size: .9rem; }
th, td { padding: .5rem .75rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--soft); font-weight: 600; }
td ul { margin: .4rem 0 0; padding-left: 1.1rem; font-size: .92em; }
small { color: var(--soft); }
.number, th:last-child { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.fault { color: var(--bad); font-weight: 600; } .warning { color: var(--past); font-weight: 600; }
.notice { color: var(--soft); }
figure { margin: 0 0 1.5rem; padding: 1rem; background: var(--sheet); border: 1px solid var(--line); }
figcaption { margin-bottom: .5rem; font-weight: 600; font-size: .9rem; }
svg { display: block; width: 100%; height: auto; }
svg text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: var(--ink); }
svg .tick { fill: var(--soft); font-size: 11px; } svg .grid { stroke: var(--line); }
svg .name { font-family: ui-monospace, Menlo, Consolas, "Liberation Mono", monospace; font-size: 11px; }
svg .s0 { fill: var(--one); } svg .s1 { fill: var(--two); }
@media (max-width: 40rem) { .figures { grid-template-columns: repeat(2, 1fr); } }
@media print {
  :root { --paper: #fff; --sheet: #fff; } @page { size: A4; margin: 16mm; }
  body { max-width: none; padding: 0; font-size: 10pt; -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  h2 { break-after: avoid; } figure, .verdict, tr, .figures { break-inside: avoid; } thead { display: table-header-group; }
  .findings tr { break-inside: auto; } li { break-inside: avoid; }
  main + main { break-before: page; } .wide { overflow: visible; } table { font-size: 8.5pt; } code { font-size: .82em; }
}
`
