import type { Health } from '#store/command-database.ts'

/**
 * What `docreg-gateway doctor` found out about one thing: never a secret, a key, or more of an
 * address than its host.
 */
export type Finding = Health & { check: string }

export const ok = (check: string, message: string): Finding => ({ check, outcome: 'ok', message })
export const warn = (check: string, message: string, advice: string): Finding => ({
  check,
  outcome: 'warn',
  message,
  advice,
})
export const fail = (check: string, message: string, advice: string): Finding => ({
  check,
  outcome: 'fail',
  message,
  advice,
})

/** @returns The text of an error, without its stack. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
