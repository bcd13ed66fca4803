/** What `npm run doctor` found out about one thing. */
export type Finding = {
  check: string
  outcome: 'ok' | 'warn' | 'fail'
  /** What is so. Never a secret, a key, or more of an address than its host. */
  message: string
  /** What to do about it. */
  advice?: string
}

export const ok = (check: string, message: string): Finding => ({ check, outcome: 'ok', message })
export const warn = (check: string, message: string, advice: string): Finding => ({
  ...{ check, outcome: 'warn', message, advice },
})
export const fail = (check: string, message: string, advice: string): Finding => ({
  ...{ check, outcome: 'fail', message, advice },
})

/** @returns The text of an error, without its stack. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
