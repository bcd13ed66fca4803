import { CallError } from '#client/index.ts'
import { d, maybeD } from './i18n.ts'

/** Codes of an outage: nothing was done, and trying again may help. */
const OUTAGES = [
  'chain_unavailable',
  'overloaded',
  'rate_limited',
  'signer_unavailable',
  'stopping',
  'store_unavailable',
  'unverifiable',
]

/** @returns What went wrong, in the words of somebody who issues documents. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof CallError)) {
    // This is an error of the page itself.
    console.error(error instanceof Error ? error.name : error)
    return d('error.page')
  }
  if (OUTAGES.includes(error.code)) return d('error.outage')
  return (
    maybeD(`error.${error.code}`) ??
    d('error.other', { code: error.code, request: error.requestId ?? '–' })
  )
}

/** @returns Whether it is not known if the request was carried out. */
export function isUnknown(error: unknown): boolean {
  return error instanceof CallError && (error.code === 'no_answer' || isOutage(error))
}

export function isOutage(error: unknown): boolean {
  return error instanceof CallError && OUTAGES.includes(error.code)
}
