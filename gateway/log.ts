import type { Config } from './config.ts'

/**
 * Writes one JSON object a line to the standard error. What goes in must hold no publicId, key, secret or field of a document.
 */
export type Log = {
  debug(event: string, fields?: Record<string, unknown>): void
  info(event: string, fields?: Record<string, unknown>): void
  error(event: string, fields?: Record<string, unknown>): void
}

const LEVELS = ['debug', 'info', 'error'] as const

export function createLog(level: Config['logLevel']): Log {
  const write = (name: (typeof LEVELS)[number]) => {
    const silent =
      level === 'silent' || LEVELS.indexOf(name) < LEVELS.indexOf(level)
    return (event: string, fields: Record<string, unknown> = {}) => {
      if (silent) return
      const line = {
        time: new Date().toISOString(),
        level: name,
        event,
        ...fields,
      }
      process.stderr.write(`${JSON.stringify(line)}\n`)
    }
  }
  return { debug: write('debug'), info: write('info'), error: write('error') }
}
