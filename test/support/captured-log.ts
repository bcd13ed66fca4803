import { vi } from 'vitest'

/** The log of gateways that run in this process. */
export type CapturedLog = {
  text(): string
  // biome-ignore lint/suspicious/noExplicitAny: tests read lines of every shape.
  lines(event: string): any[]
  stop(): void
}

/** Captures this process's standard error until it is stopped. */
export function captureLog(): CapturedLog {
  const written: string[] = []
  const stderr = vi.spyOn(process.stderr, 'write')
  stderr.mockImplementation((chunk) => written.push(`${chunk}`) > 0)
  return {
    text: () => written.join(''),
    lines: (event) =>
      written
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line))
        .filter((line) => line.event === event),
    stop: () => stderr.mockRestore(),
  }
}
