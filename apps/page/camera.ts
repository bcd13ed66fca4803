import { readQr } from './qr.ts'

/** The time between two scans of the camera's picture. */
const SCAN_INTERVAL_MS = 150

/**
 * @returns Whether this page may request the camera, which is not the case over plain HTTP from
 * another machine.
 */
export function hasCamera(): boolean {
  return navigator.mediaDevices?.getUserMedia !== undefined
}

/**
 * Shows the camera's picture and looks for a QR code in it.
 *
 * @param found Called with the text of each code found, until the camera stops. It stops by itself
 * when `video` leaves the page.
 * @returns A function that stops the camera. Rejects when there is no camera or the reader refuses.
 */
export async function watchCamera(
  video: HTMLVideoElement,
  found: (text: string) => void,
): Promise<() => void> {
  const stream = await navigator.mediaDevices.getUserMedia({
    video: { facingMode: 'environment', width: { ideal: 1280 } },
    audio: false,
  })
  video.srcObject = stream
  let running = true
  const stop = () => {
    running = false
    for (const track of stream.getTracks()) track.stop()
    video.srcObject = null
  }
  const scan = async () => {
    if (!video.isConnected) stop()
    if (!running) return
    const text = video.readyState >= 2 ? await readQr(video) : undefined
    if (running && text !== undefined) found(text)
    setTimeout(scan, SCAN_INTERVAL_MS)
  }
  await video.play().catch((error) => {
    stop()
    throw error
  })
  scan()
  return stop
}
