import { readFileSync } from 'node:fs'
import { prepareZXingModule, type ReaderOptions, readBarcodes } from 'zxing-wasm/reader'
import { InputError } from './errors.ts'
import { pixelsOf } from './image-size.ts'

// Small codes in large pictures first; the second finds codes in uneven light, by looking at the
// picture made smaller.
const ATTEMPTS: ReaderOptions[] = [
  { formats: ['QRCode'] },
  { formats: ['QRCode'], tryDownscale: true, downscaleThreshold: 200 },
]

/**
 * A file of 100 KB can hold a thousand million pixels, which take a gigabyte and many seconds. A
 * camera has fewer than these.
 */
const MAX_PIXELS = 128e6

/**
 * Reads the QR codes in a picture. The file is decoded inside WebAssembly, so that a hostile one
 * can harm nothing else. (The page has another reader: this one is too large for it, and there the
 * browser decodes pictures.)
 *
 * @param image A PNG or JPEG file, of at most 128 megapixels.
 * @returns The texts of the codes, at least one.
 * @throws {InputError} `no_qr_code`.
 */
export async function readQrCodes(image: Uint8Array): Promise<string[]> {
  const pixels = pixelsOf(image)
  if (pixels === undefined || pixels > MAX_PIXELS)
    throw new InputError('no_qr_code', 'the picture is damaged or too large')
  // Without it, the library would load its WebAssembly from a public server.
  const wasm = import.meta.resolve('zxing-wasm/reader/zxing_reader.wasm')
  prepareZXingModule({
    overrides: {
      wasmBinary: new Uint8Array(readFileSync(new URL(wasm))).buffer,
    },
  })
  for (const attempt of ATTEMPTS) {
    const codes = await readBarcodes(image, attempt).catch((cause) => {
      throw new InputError('no_qr_code', 'the picture cannot be read', cause)
    })
    // What cannot be decoded comes back as a code that is not valid.
    const texts = codes.filter((code) => code.isValid).map(({ text }) => text)
    if (texts.length > 0) return texts
  }
  throw new InputError('no_qr_code', 'there is no readable QR code in the picture')
}
