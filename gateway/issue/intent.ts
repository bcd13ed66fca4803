import type { Hex } from '../../document/hex.ts'
import type { Intent } from './ports.ts'

/** What tells intents apart: there is one of a kind for a document. */
export type IntentKey = `${Intent['kind']} ${Hex}`

export function keyOf(kind: Intent['kind'], documentHash: Hex): IntentKey {
  return `${kind} ${documentHash}`
}

export function keyOfIntent({ kind, documentHash }: Intent): IntentKey {
  return keyOf(kind, documentHash)
}
