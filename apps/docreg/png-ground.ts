import { inflateSync } from 'node:zlib'

/** A decoded picture takes four bytes for each of these. */
const MAX_PIXELS = 32e6
const SIGNATURE = 8
const [GREY, PALETTE, GREY_ALPHA, RGBA] = [0, 3, 4, 6] as const
const CHANNELS: Record<number, number> = { [GREY]: 1, [PALETTE]: 1, [GREY_ALPHA]: 2, [RGBA]: 4 }

/** Grey pixels in RGBA, as readers of codes take them. */
type Picture = { width: number; height: number; data: Uint8ClampedArray }

/**
 * Lays a PNG with transparent pixels on white paper. The reader of codes takes no notice of
 * transparency, for which most programs write black pixels.
 *
 * @param png The bytes of a PNG file, which may be hostile.
 * @returns `undefined` for a picture without transparency, with interlacing or 16 bits, and for a
 * damaged or very large one.
 */
export function onWhite(png: Buffer): Picture | undefined {
  try {
    return decode(png)
  } catch {
    return undefined
  }
}

function decode(png: Buffer): Picture | undefined {
  const chunks = chunksOf(png)
  const header = chunks.get('IHDR')?.[0]
  if (header === undefined) return undefined
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const [depth = 0, type = 0, , , interlace] = header.subarray(8)
  const alphas = chunks.get('tRNS')?.[0]
  const channels = CHANNELS[type]
  const hasAlpha = type === RGBA || type === GREY_ALPHA || alphas !== undefined
  if (!channels || !hasAlpha || interlace || depth > 8 || width * height > MAX_PIXELS)
    return undefined
  const stride = Math.ceil((width * channels * depth) / 8)
  const maxOutputLength = height * (stride + 1)
  const lines = inflateSync(Buffer.concat(chunks.get('IDAT') ?? []), { maxOutputLength })
  unfilter(lines, stride, Math.max(1, (channels * depth) >> 3))
  const palette = chunks.get('PLTE')?.[0]
  const max = 2 ** depth - 1
  const data = new Uint8ClampedArray(4 * width * height).fill(255)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const sample = (channel: number) => {
        const bit = (x * channels + channel) * depth
        const byte = lines[y * (stride + 1) + 1 + (bit >> 3)] ?? 0
        return (byte >> (8 - depth - (bit & 7))) & max
      }
      const first = sample(0)
      const alpha =
        type === PALETTE
          ? (alphas?.[first] ?? 255)
          : type === GREY
            ? alphas?.readUInt16BE(0) === first
              ? 0
              : 255
            : sample(channels - 1)
      const grey =
        type === PALETTE
          ? (palette?.[3 * first + 1] ?? 0)
          : type === RGBA
            ? sample(1)
            : (255 * first) / max
      data.fill(255 - ((255 - grey) * alpha) / 255, 4 * (y * width + x), 4 * (y * width + x) + 3)
    }
  return { width, height, data }
}

function chunksOf(png: Buffer): Map<string, Buffer[]> {
  const found = new Map<string, Buffer[]>()
  for (let at = SIGNATURE; at + 8 <= png.length; ) {
    const length = png.readUInt32BE(at)
    const name = png.toString('latin1', at + 4, at + 8)
    const chunks = found.get(name) ?? []
    found.set(name, chunks)
    chunks.push(png.subarray(at + 8, at + 8 + length))
    at += 12 + length
  }
  return found
}

/** Undoes the filters of PNG (section 9) in place. @param step The bytes of a pixel, at least 1. */
function unfilter(lines: Buffer, stride: number, step: number): void {
  for (let from = 0; from < lines.length; from += stride + 1) {
    const filter = lines[from]
    for (let i = from + 1; i <= from + stride; i++) {
      const isFirst = i - step <= from
      const left = isFirst ? 0 : (lines[i - step] ?? 0)
      const above = lines[i - stride - 1] ?? 0
      const corner = isFirst ? 0 : (lines[i - stride - 1 - step] ?? 0)
      const added = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter ?? 0]
      lines[i] = (lines[i] ?? 0) + (added ?? 0)
    }
  }
}

function paeth(left: number, above: number, corner: number): number {
  const [a, b, c] = [above - corner, left - corner, left + above - 2 * corner].map(Math.abs)
  if ((a ?? 0) <= (b ?? 0) && (a ?? 0) <= (c ?? 0)) return left
  return (b ?? 0) <= (c ?? 0) ? above : corner
}
