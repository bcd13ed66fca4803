/** Colours text, or returns it unchanged. */
export type Paint = (colour: 'red' | 'green' | 'yellow' | 'bold', text: string) => string

/** The streams for a command's output and warnings. */
export type Terminal = {
  write(text: string): void
  warn(text: string): void
  paint: Paint
}
