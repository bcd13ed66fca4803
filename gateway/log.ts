import type { Config } from './config.ts'

const LEVELS = ['debug', 'info', 'warn', 'error'] as const
type Level = (typeof LEVELS)[number]

/**
 * Writes one JSON object per line to the standard error. Events are snake_case identifiers. Neither they nor their fields may
 * hold a publicId, an API key, a secret, or a field of a document.
 */
export type Log = Record<Level, (event: string, fields?: Record<string, unknown>) => void>

/** @param threshold The lowest level that is written. */
export function createLog(threshold: Config['logLevel']): Log {
  const at = (level: Level) => {
    const silent = threshold === 'silent' || LEVELS.indexOf(level) < LEVELS.indexOf(threshold)
    return (event: string, fields: Record<string, unknown> = {}) => {
      if (silent) return
      const time = new Date().toISOString()
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

/** @returns What a developer needs to find a bug, without the message: it may quote what a client sent or a document holds. */
export function describeBug(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error }
  const { name, message, stack = '' } = error
  const frames = stack.split('\n').slice(message.split('\n').length)
  return { error: name, frames: frames.map((line) => line.trim()) }
}
