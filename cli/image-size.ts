/**
 * @param image A PNG or JPEG file.
 * @returns The number of pixels that it declares; `undefined` if it declares none where such
 * files do.
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

/** The first chunk, after the 8 bytes that every PNG begins with, and its own length and name. */
function pixelsOfPng(view: DataView): number | undefined {
  return view.getUint32(12) === IHDR ? view.getUint32(16) * view.getUint32(20) : undefined
}

/**
 * Segments, each a marker and its length, up to the one that begins a frame (ITU-T T.81, B.1.1.4
 * and B.2.2).
 */
function pixelsOfJpeg(view: DataView): number | undefined {
  for (let at = 2; view.getUint8(at) === 0xff; ) {
    const marker = view.getUint8(at + 1)
    if (marker === 0xff) {
      // A byte to fill in, of which there may be many.
      at++
      continue
    }
    if (isFrame(marker)) return view.getUint16(at + 5) * view.getUint16(at + 7)
    at += 2 + view.getUint16(at + 2)
  }
  return undefined
}

/** SOF0 to SOF15. Three of these numbers are something else: DHT, JPG, DAC. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
}
