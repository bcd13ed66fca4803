import { deflateSync, gzipSync } from 'node:zlib'

/**
 * The number of pixels in a module. With one bit per pixel, a module is then one byte of its row.
 */
const SCALE = 8
const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const GREYSCALE = 0
const NO_FILTER = 0

/**
 * @param rows The modules of a QR code with its white border, `true` for black.
 * @returns A PNG picture with one bit per pixel, and eight pixels in width for each module.
 */
export function drawPng(rows: readonly boolean[][]): Buffer {
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

/** A chunk has its length, its kind, its data, and the checksum of kind and data. */
function pngChunk(kind: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(kind, 'latin1'), data])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, checksum])
}

/** The checksum of gzip, which PNG uses too. Node 20.14 and older have no `crc32`. */
function crc32(bytes: Buffer): number {
  const file = gzipSync(bytes, { level: 0 })
  return file.readUInt32LE(file.length - 8)
}
