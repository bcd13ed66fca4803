import { encodeQR } from 'qr'
import { svg } from '../dom.ts'

/**
 * UTF-16 units of the longest text that becomes a code. Codes hold up to 2,953 bytes, but one with
 * more than this has modules too small for the camera of a phone.
 */
const MAX_TEXT = 2_000
/** Modules of white around the code (ISO/IEC 18004). */
const QUIET = 4

/** @returns A QR code, black on white in every look; `undefined` for text that is too long. */
export function viewQr(text: string, label: string): SVGElement | undefined {
  if (text.length > MAX_TEXT) return undefined
  const rows = encodeQR(text, 'raw', { ecc: 'low', border: QUIET })
  const size = String(rows.length)
  const dark = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  )
  return svg(
    'svg',
    {
      class: 'code',
      role: 'img',
      'aria-label': label,
      viewBox: `0 0 ${size} ${size}`,
      'shape-rendering': 'crispEdges',
    },
    svg('rect', { width: size, height: size, fill: '#fff' }),
    svg('path', { d: dark.join(''), fill: '#000' }),
  )
}
