/** The units from the centre to the edge of the picture. */
const EDGE = 1000
/**
 * The number of cubic curves for one lobe, which meet where the wave turns. More would only make
 * pages larger.
 */
const CURVES_A_LOBE = 4

/** A woven band: `lines` copies of one wave around the centre, each turned a little further. */
type Band = {
  radius: number
  height: number
  lobes: number
  lines: number
  /** The share of the wave that has the double frequency. */
  skew: number
  /** How often the band itself goes in and out. */
  petals: number
  /** The share of its radius by which it goes in and out. */
  depth: number
}

/**
 * Draws a guilloche that depends only on the documentHash, so that a document has the same one
 * wherever it is drawn, and another document a different one.
 *
 * @param hash The documentHash, 32 bytes.
 * @returns SVG paths from the outermost band to the innermost, in a square of -1000 to 1000. Each
 * consists of closed lines to be stroked.
 */
export function rosetteOf(hash: Uint8Array): string[] {
  return bandsOf(hash).map(pathOf)
}

function bandsOf(hash: Uint8Array): Band[] {
  const choose = (at: number, from: number, to: number) =>
    from + ((hash[at] ?? 0) % (to - from + 1))
  const petals = choose(0, 5, 12)
  let outer = EDGE - 10
  return [0.34, 0.3, 0.22].map((share, i) => {
    const at = 1 + i * 8
    const depth = choose(at, 20, 60) / 1000
    const height = ((EDGE * share) / 2) * (0.8 + choose(at + 1, 0, 20) / 100)
    const radius = (outer - height) / (1 + depth)
    outer = radius - height * (0.6 + choose(at + 2, 0, 60) / 100)
    return {
      radius,
      height,
      depth,
      petals: petals * (i === 1 ? 1 : choose(at + 3, 1, 2)),
      lobes: choose(at + 4, 8, 20) - 2 * i,
      lines: choose(at + 5, 6, 9),
      skew: choose(at + 6, 0, 60) / 100 - 0.3,
    }
  })
}

function pathOf(band: Band): string {
  const { lobes, lines } = band
  return Array.from({ length: lines }, (_, i) =>
    lineOf(band, (2 * Math.PI * i) / (lines * lobes)),
  ).join('')
}

/** Draws one wave around the centre, turned by an angle, as cubic Hermite pieces. */
function lineOf(band: Band, turn: number): string {
  const count = band.lobes * CURVES_A_LOBE
  const step = (2 * Math.PI) / count
  const points = Array.from({ length: count + 1 }, (_, i) =>
    pointAt(band, (i % count) * step, turn),
  )
  const [first] = points
  const curves = points.slice(1).map((b, i) => {
    const a = points[i] ?? b
    const [ax, ay] = [a.x + (a.dx * step) / 3, a.y + (a.dy * step) / 3]
    const [bx, by] = [b.x - (b.dx * step) / 3, b.y - (b.dy * step) / 3]
    return [ax, ay, bx, by, b.x, b.y].map(Math.round).join(' ')
  })
  return `M${Math.round(first?.x ?? 0)} ${Math.round(first?.y ?? 0)}C${curves.join(' ')}Z`
}

/** @returns A point of a line, and how it moves with the angle. */
function pointAt(
  { radius, height, lobes, skew, petals, depth }: Band,
  angle: number,
  turn: number,
) {
  const wave = lobes * angle
  const whole = angle + turn
  const plain = 1 - Math.abs(skew)
  const r =
    radius * (1 + depth * Math.cos(petals * whole)) +
    height * (plain * Math.cos(wave) + skew * Math.cos(2 * wave))
  const slope =
    -radius * depth * petals * Math.sin(petals * whole) -
    height * lobes * (plain * Math.sin(wave) + 2 * skew * Math.sin(2 * wave))
  const [cos, sin] = [Math.cos(whole), Math.sin(whole)]
  return { x: r * cos, y: r * sin, dx: slope * cos - r * sin, dy: slope * sin + r * cos }
}
