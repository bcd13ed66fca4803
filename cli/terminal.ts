/** Puts text in a colour, or leaves it as it is. */
export type Paint = (colour: 'red' | 'green' | 'yellow' | 'bold', text: string) => string

/** Where a command writes its output and its warnings. */
export type Terminal = {
  write(text: string): void
  warn(text: string): void
  paint: Paint
}
