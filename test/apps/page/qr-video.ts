import { create } from 'qrcode'

const WIDTH = 640
const HEIGHT = 480
const QUIET = 4

/**
 * @returns A video of one frame with a QR code, in the format of Chromium's fake camera: YUV4MPEG2,
 * 4:2:0, black on grey.
 */
export function qrVideo(text: string): Buffer {
  const { modules } = create(text)
  const scale = Math.floor(HEIGHT / (modules.size + 2 * QUIET))
  const luma = Buffer.alloc(WIDTH * HEIGHT, 225)
  for (let y = 0; y < modules.size * scale; y++)
    for (let x = 0; x < modules.size * scale; x++) {
      const dark = modules.get(Math.floor(y / scale), Math.floor(x / scale))
      const at = (y + QUIET * scale) * WIDTH + x + QUIET * scale
      if (dark) luma[at] = 30
    }
  const chroma = Buffer.alloc((WIDTH * HEIGHT) / 2, 128)
  const header = `YUV4MPEG2 W${WIDTH} H${HEIGHT} F10:1 Ip A1:1 C420jpeg\nFRAME\n`
  return Buffer.concat([Buffer.from(header), luma, chroma])
}
