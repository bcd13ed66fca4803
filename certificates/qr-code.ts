import { deflateSync, gzipSync } from 'node:zlib'
import { encodeQR } from 'qr'

export type QrOptions = {
  /** How much of a code may be damaged: 7 % (low) or 15 % (medium). */
  ecc: 'low' | 'medium'
  /** White modules around the code; ISO/IEC 18004 asks for 4. */
  border: number
}

/** @returns An SVG picture, a unit for each module, black on white. */
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

/** Pixels of a module, so that with one bit for a pixel a module is a byte of its row. */
const SCALE = 8
const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const GREYSCALE = 0
const NO_FILTER = 0

/** @returns A PNG picture of black and white, eight pixels wide for each module. */
export function qrPng(text: string, options: QrOptions): Buffer {
  const rows = encodeQR(text, 'raw', options)
  const lines = rows.flatMap((row) => {
    const line = Buffer.from([NO_FILTER, ...row.map((isDark) => (isDark ? 0x00 : 0xff))])
    return Array<Buffer>(SCALE).fill(line)
  })
  const header = Buffer.alloc(13)
  header.writeUInt32BE(rows.length * SCALE, 0)
  header.writeUInt32BE(rows.length * SCALE, 4)
  header.set([1, GREYSCALE], 8)
  return Buffer.concat([
    SIGNATURE,
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(Buffer.concat(lines))),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

/** Its length, its kind, its data, and the checksum of kind and data. */
function pngChunk(kind: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(kind, 'latin1'), data])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, checksum])
}

/** The checksum of a gzip file, which is that of PNG. Node 20.14 and older have no `crc32`. */
function crc32(bytes: Buffer): number {
  const file = gzipSync(bytes, { level: 0 })
  return file.readUInt32LE(file.length - 8)
}
