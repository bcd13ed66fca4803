/** Colours text, or returns it unchanged. */
export type Paint = (colour: 'red' | 'green' | 'yellow' | 'bold', text: string) => string

/** Progress of long work, on standard error. */
export type Progress = {
  /** @param done The completed units of work. */
  update(done: number): void
  /** Removes the bar. */
  end(): void
}

/** The streams for a command's output and warnings. */
export type Terminal = {
  write(text: string): void
  warn(text: string): void
  /** A line on standard error that is not a warning. */
  note(text: string): void
  /** @param total The total; `undefined` while it is not known. */
  progress(label: string, total: number | undefined): Progress
  paint: Paint
}
