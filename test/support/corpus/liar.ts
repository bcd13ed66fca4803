import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { encodeBase64url } from '#document/base64url.ts'
import { type Claims, sdOf } from '#document/disclosures.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { Present } from './case.ts'

type Lie = NonNullable<Present['issuer']>

/** Claims sealed by a lying issuer, with all disclosures. */
export type Lied = { claims: Claims; disclosures: string[]; sd: string }

/**
 * Built by hand, because `disclose` accepts only valid documents. The result is the same in every
 * run.
 */
export function claimsOfLiar(
  name: string,
  lie: Lie,
  truth: Pick<Claims, 'registry' | 'issuerId'>,
): Lied {
  const texts = (list: 'fields' | 'metadata') =>
    lie[list].map(([key, value], i) => disclosureOf(`${name}/${list}/${i}`, key, value))
  const [fields, metadata] = [texts('fields'), texts('metadata')]
  const decoys = (list: string, from: number) =>
    Array.from({ length: 8 - from }, (_, i) => digestOf(`${name}/${list}/${i}`))
  const ofFields = [...fields.map(digestOf), ...decoys('a', fields.length)]
  const ofMetadata = [...metadata.map(digestOf), ...decoys('b', metadata.length)]
  if (lie.digestRepeated) ofMetadata[7] = ofFields[0] ?? ''
  const claims: Claims = {
    _sd: ofFields.sort(),
    _sd_alg: 'sha-256',
    issuerId: lie.issuerId ?? truth.issuerId,
    metadata: { _sd: ofMetadata.sort() },
    registry: (lie.registry as RegistryId | undefined) ?? truth.registry,
  }
  return { claims, disclosures: [...fields, ...metadata], sd: sdOf(claims) }
}

/** @returns A disclosure whose salt is drawn from a seed. */
export function disclosureOf(seed: string, name: string, value: string) {
  const salt = encodeBase64url(sha256(utf8ToBytes(seed)).subarray(0, 16))
  return encodeBase64url(utf8ToBytes(JSON.stringify([salt, name, value])))
}

const digestOf = (text: string) => encodeBase64url(sha256(utf8ToBytes(text)))
