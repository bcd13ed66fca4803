// Charts as inline SVG, without a script. Colours come from the page's style sheet.

/** A bar: its name, and the number of each series. */
export type Bar = { label: string; values: number[] }

const WIDTH = 720
const HEIGHT = 220
const [LEFT, TOP, BOTTOM] = [56, 12, 28]
/** The maximum number of labels below a column chart. */
const MAX_LABELS = 12
/** The maximum number of rows in a row chart. The others are one more row. */
const MAX_ROWS = 12
const ROW = 26
const NAME = 190

/** @returns Text that HTML and SVG show as plain text. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
}

/** @returns A number with thin spaces between thousands. */
export function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, '\u202f')
}

/**
 * Stacked columns for values over time.
 *
 * @param title Read aloud instead of the picture.
 * @param series The name of each series.
 */
export function columns(title: string, series: readonly string[], bars: readonly Bar[]): string {
  const most = Math.max(1, ...bars.map(({ values }) => sum(values)))
  const { top, step } = axisOf(most)
  const inner = { width: WIDTH - LEFT - 8, height: HEIGHT - TOP - BOTTOM }
  const yOf = (value: number) => TOP + inner.height * (1 - value / top)
  const slot = inner.width / Math.max(1, bars.length)
  const width = Math.max(1, Math.min(48, slot * 0.72))
  const every = Math.ceil(bars.length / MAX_LABELS)
  const parts: string[] = []
  for (let value = 0; value <= top; value += step)
    parts.push(
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - 8}" y1="${at(yOf(value))}" y2="${at(yOf(value))}"/>`,
      `<text class="tick" x="${LEFT - 8}" y="${at(yOf(value) + 4)}" text-anchor="end">${grouped(value)}</text>`,
    )
  for (const [i, { label, values }] of bars.entries()) {
    const x = LEFT + slot * i + (slot - width) / 2
    let base = 0
    for (const [number, value] of values.entries()) {
      if (value === 0) continue
      const y = yOf(base + value)
      parts.push(
        `<rect class="s${number}" x="${at(x)}" y="${at(y)}" width="${at(width)}" height="${at(yOf(base) - y)}"><title>${escapeHtml(`${label}: ${grouped(value)} ${series[number]}`)}</title></rect>`,
      )
      base += value
    }
    if (i % every === 0)
      parts.push(
        `<text class="tick" x="${at(x + width / 2)}" y="${HEIGHT - 8}" text-anchor="middle">${escapeHtml(label)}</text>`,
      )
  }
  return svg(title, HEIGHT, parts)
}

/** Rows with their names, the largest first. */
export function rows(title: string, unit: string, bars: readonly Bar[]): string {
  const shown = bars.slice(0, MAX_ROWS)
  const rest = bars.slice(MAX_ROWS)
  if (rest.length > 0)
    shown.push({
      label: `${rest.length} others`,
      values: [sum(rest.map(({ values }) => sum(values)))],
    })
  const most = Math.max(1, ...shown.map(({ values }) => sum(values)))
  const room = WIDTH - NAME - 90
  const parts = shown.flatMap(({ label, values }, i) => {
    const value = sum(values)
    const length = Math.max(value > 0 ? 2 : 0, (room * value) / most)
    const y = 4 + ROW * i
    return [
      `<text class="name" x="${NAME - 10}" y="${y + 15}" text-anchor="end">${escapeHtml(label)}</text>`,
      `<rect class="s0" x="${NAME}" y="${y + 3}" width="${at(length)}" height="${ROW - 10}"><title>${escapeHtml(`${label}: ${grouped(value)} ${unit}`)}</title></rect>`,
      `<text class="value" x="${at(NAME + length + 8)}" y="${y + 15}">${grouped(value)}</text>`,
    ]
  })
  return svg(title, 8 + ROW * shown.length, parts)
}

function svg(title: string, height: number, parts: readonly string[]): string {
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeHtml(title)}">${parts.join('')}</svg>`
}

/** @returns The end of the axis, and its steps: 1, 2 or 5 times a power of ten. */
function axisOf(most: number): { top: number; step: number } {
  const rough = most / 4
  const power = 10 ** Math.max(0, Math.floor(Math.log10(rough)))
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => one >= rough) ?? power
  return { top: step * Math.ceil(most / step), step }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function at(value: number): string {
  return value.toFixed(1)
}
