import { encodeQR } from 'qr'
import { drawPng } from './png.ts'

export type QrOptions = {
  /** How much of a code may be damaged: 7 % (low) or 15 % (medium). */
  ecc: 'low' | 'medium'
  /** The number of white modules around the code; ISO/IEC 18004 requires 4. */
  border: number
}

/** @returns An SVG picture in black on white, with one unit for each module. */
export function qrSvg(text: string, options: QrOptions): string {
  const rows = encodeQR(text, 'raw', options)
  const runs = rows.map((row, y) => {
    let path = ''
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue
      const start = x
      while (row[x + 1]) x++
      path += `M${start} ${y}h${x + 1 - start}v1h-${x + 1 - start}z`
    }
    return path
  })
  const side = rows.length
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}" width="${side}" height="${side}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${side}v${side}h-${side}z"/><path d="${runs.join('')}"/></svg>`
}

/** @returns A PNG picture in black and white, with eight pixels in width for each module. */
export function qrPng(text: string, options: QrOptions): Buffer {
  return drawPng(encodeQR(text, 'raw', options))
}
