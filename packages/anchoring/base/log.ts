import { clock } from './clock.ts'

const LEVELS = ['debug', 'info', 'warn', 'error'] as const
type Level = (typeof LEVELS)[number]

/** The lowest level that is written. */
export type LogLevel = Level | 'silent'

/**
 * Writes one JSON object per line to standard error. Events are snake_case identifiers. Neither
 * they nor their fields may contain a publicId, an API key, a secret or a field of a document.
 */
export type Log = Record<Level, (event: string, fields?: Record<string, unknown>) => void>

export function createLog(threshold: LogLevel): Log {
  const at = (level: Level) => {
    const silent = threshold === 'silent' || LEVELS.indexOf(level) < LEVELS.indexOf(threshold)
    return (event: string, fields: Record<string, unknown> = {}) => {
      if (silent) return
      const time = new Date(clock.wall()).toISOString()
      const line = { time, level, event, ...fields }
      process.stderr.write(`${JSON.stringify(line)}\n`)
    }
  }
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  }
}

/**
 * @returns The details that a developer needs to find a bug. The message is omitted, because it may
 * quote a request or a document.
 */
export function describeBug(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error }
  const { name, message, stack = '' } = error
  const frames = stack.split('\n').slice(message.split('\n').length)
  return { error: name, frames: frames.map((line) => line.trim()) }
}
