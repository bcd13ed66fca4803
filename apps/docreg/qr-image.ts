import { readFileSync } from 'node:fs'
import { prepareZXingModule, type ReaderOptions, readBarcodes } from 'zxing-wasm/reader'
import { InputError } from './errors.ts'
import { onWhite } from './png-ground.ts'

// The first attempt finds small codes in large pictures; the second finds codes in uneven light, in
// a smaller version of the picture.
const ATTEMPTS: ReaderOptions[] = [
  { formats: ['QRCode'] },
  { formats: ['QRCode'], tryDownscale: true, downscaleThreshold: 200 },
]

/**
 * A file of 100 KB can contain a billion pixels, which take a gigabyte and many seconds. Cameras
 * have fewer pixels than this.
 */
const MAX_PIXELS = 128e6

/**
 * Reads the QR codes in a picture. The file is decoded inside WebAssembly, so that a hostile one
 * can harm nothing else. (The page has another reader, because this one is too large for it and
 * browsers decode pictures themselves.)
 *
 * @param image A PNG or JPEG file of at most 128 megapixels.
 * @returns The texts of the codes, at least one.
 * @throws {InputError} `no_qr_code`.
 */
export async function readQrCodes(image: Uint8Array): Promise<string[]> {
  const pixels = pixelsOf(image)
  if (pixels === undefined || pixels > MAX_PIXELS)
    throw new InputError('no_qr_code', 'the picture is damaged or too large')
  // Otherwise the library would load its WebAssembly from a public server.
  const wasm = import.meta.resolve('zxing-wasm/reader/zxing_reader.wasm')
  prepareZXingModule({
    overrides: {
      wasmBinary: new Uint8Array(readFileSync(new URL(wasm))).buffer,
    },
  })
  const laid = image[0] === 0x89 ? onWhite(Buffer.from(image)) : undefined
  for (const picture of laid ? [laid as ImageData, image] : [image])
    for (const attempt of ATTEMPTS) {
      const codes = await readBarcodes(picture, attempt).catch((cause) => {
        throw new InputError('no_qr_code', 'the picture cannot be read', cause)
      })
      // A code that cannot be decoded is returned as invalid.
      const texts = codes.filter((code) => code.isValid).map(({ text }) => text)
      if (texts.length > 0) return texts
    }
  throw new InputError('no_qr_code', 'the picture contains no readable QR code')
}

/**
 * @param image A PNG or JPEG file.
 * @returns The declared number of pixels; `undefined` if the file has no size in the usual place.
 */
export function pixelsOf(image: Uint8Array): number | undefined {
  const view = new DataView(image.buffer, image.byteOffset, image.byteLength)
  try {
    return image[0] === 0x89 ? pixelsOfPng(view) : pixelsOfJpeg(view)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const IHDR = 0x49484452

/**
 * Reads the first chunk, which follows the PNG signature (8 bytes) and the length and name of the
 * chunk.
 */
function pixelsOfPng(view: DataView): number | undefined {
  return view.getUint32(12) === IHDR ? view.getUint32(16) * view.getUint32(20) : undefined
}

/**
 * Skips segments (marker and length) up to the one that begins a frame (ITU-T T.81, B.1.1.4 and
 * B.2.2).
 */
function pixelsOfJpeg(view: DataView): number | undefined {
  for (let at = 2; view.getUint8(at) === 0xff; ) {
    const marker = view.getUint8(at + 1)
    if (marker === 0xff) {
      // This is a fill byte, of which there may be many.
      at++
      continue
    }
    if (isFrame(marker)) return view.getUint16(at + 5) * view.getUint16(at + 7)
    at += 2 + view.getUint16(at + 2)
  }
  return undefined
}

/** SOF0 to SOF15, except the three numbers that mean DHT, JPG and DAC. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
}
