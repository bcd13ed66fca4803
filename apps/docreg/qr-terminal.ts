const COLUMNS_WITHOUT_A_SIZE = 80
/** Black on white in any terminal, because not every scanner reads the inverse. */
const QR_COLOURS = '\x1b[38;5;16;48;5;231m'
const RESET = '\x1b[0m'

/** @returns The lines; none when the terminal is too narrow for the code. */
export async function drawQrCode(
  text: string,
  columns = COLUMNS_WITHOUT_A_SIZE,
): Promise<string[]> {
  const { toString: toText } = await import('qrcode')
  const code = await toText(text, { type: 'utf8', errorCorrectionLevel: 'L', margin: 4 })
  const lines = code.split('\n')
  if (lines.some((line) => line.length > columns)) return []
  return lines.map((line) => `${QR_COLOURS}${line}${RESET}`)
}
