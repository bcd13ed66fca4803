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
 * The content of the first chunk, after the PNG signature (8 bytes), the chunk's length and its
 * name.
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
      // A fill byte; there may be many.
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
