import { encodeQR } from 'qr'
import { svg } from '../dom.ts'

/**
 * The maximum UTF-16 units of text in a QR code. Codes can contain up to 2,953 bytes, but beyond
 * this limit the modules are too small for a phone's camera.
 */
const MAX_CODE_TEXT = 2_000
/** The number of white modules around the code (ISO/IEC 18004). */
const QUIET = 4

/**
 * @returns A QR code, black on white in every colour scheme; `undefined` for text that is too long.
 */
export function viewQr(text: string, label: string): SVGElement | undefined {
  if (text.length > MAX_CODE_TEXT) return undefined
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
