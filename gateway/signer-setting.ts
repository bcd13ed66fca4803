import type { Hex } from '../document/hex.ts'

/** What signs for the issuer account. */
export type SignerSetting =
  | { kind: 'key'; key: Hex }
  | { kind: 'keystore'; path: string; passwordFile: string }
  | { kind: 'remote'; url: string; address: Hex }

/** The variables of the environment that name a signer. */
export type SignerVariables = {
  ISSUER_KEY?: Hex | undefined
  ISSUER_KEYSTORE?: string | undefined
  ISSUER_KEYSTORE_PASSWORD_FILE?: string | undefined
  ISSUER_SIGNER_URL?: string | undefined
  ISSUER_ADDRESS?: Hex | undefined
}

const PAIRS = [
  ['ISSUER_KEYSTORE', 'ISSUER_KEYSTORE_PASSWORD_FILE'],
  ['ISSUER_SIGNER_URL', 'ISSUER_ADDRESS'],
] as const

/** @returns A problem for each incomplete pair, and one when several signers are set. */
export function signerProblems(variables: SignerVariables): string[] {
  const incomplete = PAIRS.filter(
    ([a, b]) => (variables[a] === undefined) !== (variables[b] === undefined),
  )
  const named = (['ISSUER_KEY', 'ISSUER_KEYSTORE', 'ISSUER_SIGNER_URL'] as const).filter(
    (name) => variables[name] !== undefined,
  )
  return [
    ...incomplete.map((pair) => `${pair.join(' and ')} go together`),
    ...(named.length > 1 ? [`${named.join(' and ')} exclude each other`] : []),
  ]
}

/** @returns The signer, from variables without problems; `undefined` when none is set. */
export function signerOf(variables: SignerVariables): SignerSetting | undefined {
  const { ISSUER_KEY, ISSUER_KEYSTORE, ISSUER_KEYSTORE_PASSWORD_FILE } = variables
  const { ISSUER_SIGNER_URL, ISSUER_ADDRESS } = variables
  if (ISSUER_KEY) return { kind: 'key', key: ISSUER_KEY }
  if (ISSUER_KEYSTORE && ISSUER_KEYSTORE_PASSWORD_FILE)
    return {
      kind: 'keystore',
      path: ISSUER_KEYSTORE,
      passwordFile: ISSUER_KEYSTORE_PASSWORD_FILE,
    }
  if (ISSUER_SIGNER_URL && ISSUER_ADDRESS)
    return { kind: 'remote', url: ISSUER_SIGNER_URL, address: ISSUER_ADDRESS }
  return undefined
}
