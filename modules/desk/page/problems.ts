import { CallError } from '#client/index.ts'
import { noSuchDay } from '#document/document.ts'
import type { PlainField } from '#document/kind.ts'
import { currentLanguage } from '#web/i18n.ts'
import { d, maybeD, quoted } from './i18n.ts'
import { entriesOf, fieldOf } from './kinds.ts'

const DATES = ['issuedAt', 'expiresAt']
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
  const code = error.code === 'fonts_missing' ? 'unprintable' : error.code
  return (
    maybeD(`error.${code}`, { message: quoted(error.message) }) ??
    d('error.other', { code: error.code, request: error.requestId ?? '–' })
  )
}

/** @returns What is wrong with a field of a document of this category, in words. */
export function problemWords(field: string, value: string, category: string): string {
  const ofKind = fieldOf(field, category)
  const isMissing = value.trim() === ''
  const language = currentLanguage()
  const noDay = noSuchDay(value, language === 'en' ? 'en-GB' : language)
  if (noDay !== undefined && (ofKind?.type === 'date' || DATES.includes(field)))
    return d('bad.noDay', { day: noDay })
  if (field.startsWith('metadata')) {
    if (entriesOf(category) && field.startsWith('metadata.') && !ofKind) return d('bad.notOfKind')
    if (!ofKind || (ofKind.type === 'text' && !isMissing)) return d('bad.metadata')
    return isMissing || ofKind.type === 'text' ? d('bad.missing') : d(`bad.${ofKind.type}`)
  }
  return isMissing && (field !== 'expiresAt' || ofKind?.isRequired)
    ? d('bad.missing')
    : d(`bad.${field as PlainField}`)
}
