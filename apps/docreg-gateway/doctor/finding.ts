import type { Health } from '#store/binding.ts'

/**
 * A finding of `docreg-gateway doctor`. It never contains a secret or a key, and of an address only
 * the host.
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
