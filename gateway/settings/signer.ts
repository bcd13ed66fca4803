import type { Hex } from '#document/hex.ts'

/** How transactions of the issuer account are signed. */
export type SignerSetting =
  | { kind: 'key'; key: Hex }
  | { kind: 'keystore'; path: string; passwordFile: string }
  | { kind: 'remote'; url: string; address: Hex }

/** The variables of the environment that name a signer. */
export type SignerVariables = {
  ISSUER_KEY?: readonly Hex[] | undefined
  ISSUER_KEYSTORE?: readonly string[] | undefined
  /** One password file for all keystores, or one for each. */
  ISSUER_KEYSTORE_PASSWORD_FILE?: readonly string[] | undefined
  ISSUER_SIGNER_URL?: string | undefined
  ISSUER_ADDRESS?: readonly Hex[] | undefined
}

const PAIRS = [
  ['ISSUER_KEYSTORE', 'ISSUER_KEYSTORE_PASSWORD_FILE'],
  ['ISSUER_SIGNER_URL', 'ISSUER_ADDRESS'],
] as const

/**
 * @param isShared Whether gateways share a database, and with it the issuer's accounts.
 * @returns A problem for each incomplete pair, when several signers are set, when passwords do not
 * match keystores, and when a single gateway gets several accounts.
 */
export function signerProblems(variables: SignerVariables, isShared: boolean): string[] {
  const incomplete = PAIRS.filter(
    ([a, b]) => (variables[a] === undefined) !== (variables[b] === undefined),
  )
  const named = (['ISSUER_KEY', 'ISSUER_KEYSTORE', 'ISSUER_SIGNER_URL'] as const).filter(
    (name) => variables[name] !== undefined,
  )
  const lengthOf = (name: keyof SignerVariables) => variables[name]?.length ?? 0
  const lists = (['ISSUER_KEY', 'ISSUER_KEYSTORE', 'ISSUER_ADDRESS'] as const).filter(
    (name) => lengthOf(name) > 1,
  )
  const passwords = lengthOf('ISSUER_KEYSTORE_PASSWORD_FILE')
  return [
    ...incomplete.map((pair) => `${pair.join(' and ')} must be set together`),
    ...(named.length > 1 ? [`${named.join(' and ')} cannot be set together`] : []),
    ...(passwords > 1 && passwords !== lengthOf('ISSUER_KEYSTORE')
      ? [
          'ISSUER_KEYSTORE_PASSWORD_FILE must name one file, or one for each file of ISSUER_KEYSTORE',
        ]
      : []),
    ...(isShared
      ? []
      : lists.map((name) => `${name} names several accounts, which requires DATABASE_URL`)),
  ]
}

/** @returns The signers, one for each account, from variables without problems. */
export function signersOf(variables: SignerVariables): SignerSetting[] {
  const { ISSUER_KEY, ISSUER_KEYSTORE, ISSUER_KEYSTORE_PASSWORD_FILE } = variables
  const { ISSUER_SIGNER_URL, ISSUER_ADDRESS } = variables
  if (ISSUER_KEY) return ISSUER_KEY.map((key) => ({ kind: 'key', key }))
  if (ISSUER_KEYSTORE && ISSUER_KEYSTORE_PASSWORD_FILE)
    return ISSUER_KEYSTORE.map((path, i) => {
      const passwordFile = ISSUER_KEYSTORE_PASSWORD_FILE[i] ?? ISSUER_KEYSTORE_PASSWORD_FILE[0]
      return { kind: 'keystore', path, passwordFile: passwordFile ?? '' }
    })
  if (ISSUER_SIGNER_URL && ISSUER_ADDRESS)
    return ISSUER_ADDRESS.map((address) => ({ kind: 'remote', url: ISSUER_SIGNER_URL, address }))
  return []
}
