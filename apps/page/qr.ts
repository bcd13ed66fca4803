import decodeQr from 'qr/decode.js'

/**
 * The sizes (longer side, in pixels) at which to search for a code: large enough for dense codes,
 * small enough to be fast.
 */
const SIDES = [1600, 800]
const SCAN_TIMEOUT_MS = 400

type Detector = {
  detect(image: CanvasImageSource): Promise<{ rawValue: string }[]>
}
declare const BarcodeDetector: {
  new (options: { formats: string[] }): Detector
}

/** @returns The text of the QR code in a picture; `undefined` when none is found. */
export async function readQr(image: ImageBitmap | HTMLVideoElement): Promise<string | undefined> {
  return (await readWithBrowser(image)) ?? readInScript(image)
}

/** Uses the browser's own reader, if available, which is faster and better with poor pictures. */
async function readWithBrowser(image: ImageBitmap | HTMLVideoElement): Promise<string | undefined> {
  if (!('BarcodeDetector' in globalThis)) return undefined
  try {
    const [code] = await new BarcodeDetector({ formats: ['qr_code'] }).detect(image)
    return code?.rawValue
  } catch {
    return undefined
  }
}

function readInScript(image: ImageBitmap | HTMLVideoElement): string | undefined {
  const [width, height] =
    image instanceof HTMLVideoElement
      ? [image.videoWidth, image.videoHeight]
      : [image.width, image.height]
  for (const side of SIDES) {
    const scale = Math.min(1, side / Math.max(width, height))
    const text = tryAt(image, Math.round(width * scale), Math.round(height * scale))
    if (text !== undefined) return text
  }
  return undefined
}

function tryAt(image: CanvasImageSource, width: number, height: number): string | undefined {
  const canvas = document.createElement('canvas')
  canvas.width = width
  canvas.height = height
  const context = canvas.getContext('2d', { willReadFrequently: true })
  if (context === null || width === 0 || height === 0) return undefined
  // Transparent pictures of codes need a white background.
  context.fillStyle = '#fff'
  context.fillRect(0, 0, width, height)
  context.drawImage(image, 0, 0, width, height)
  try {
    const { data } = context.getImageData(0, 0, width, height)
    return decodeQr({ data, width, height }, { timeLimit: SCAN_TIMEOUT_MS })
  } catch {
    return undefined
  }
}
