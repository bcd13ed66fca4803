import { sha256 } from '@noble/hashes/sha2.js'
import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import mustFail from '#corpus/vectors/must-fail.json' with { type: 'json' }
import { buildBatch } from '#document/batch/batch.ts'
import { encodeBatchBlock } from '#document/batch/block.ts'
import { decodeUtf8 } from '#document/bytes.ts'
import { toCanonical } from '#document/canonical.ts'
import { validUntilOf } from '#document/document.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import { deriveSealingKeys, deriveSubkeys, idempotentSalt } from '#document/keys.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { sealPlaintext } from '#document/sealed.ts'
import { sealAnything } from '../seal-plaintext.ts'
import type { Case } from './case.ts'
import { claimsOfLiar, type Lied } from './liar.ts'
import type { Made, MadeBatch } from './made.ts'
import { presentationOf } from './present.ts'

/** The secret of the vectors, so that the corpus can anchor them. */
export const ISSUER_SECRET = golden.issuerSecret as Hex
/** The registry of the vectors: the first contract of Anvil's first account. */
export const REGISTRY: RegistryId = 'eip155:31337:0x5fbdb2315678afecb367f032d93f642f64180aa3'

/** The fields of a valid document. */
export const FIELDS = {
  subjectName: 'Ada Lovelace',
  subjectId: '18151210',
  category: 'birth_certificate',
  issuedAt: '2026-01-31',
}

/** @returns The sealed document of a case, and its batch; equal on every run. */
export async function makePayload(corpusCase: Case): Promise<Made> {
  const { name, batch, present } = corpusCase
  const lied =
    present?.issuer && claimsOfLiar(name, present.issuer, { registry: REGISTRY, issuerId: 1 })
  const alone = await makeSealed(corpusCase, lied)
  const made = batch ? { ...alone, batch: await makeBatch(name, batch, alone) } : alone
  if (!present) return made
  const another = await sealAs(`${name}/another`, {
    document: { subjectName: 'Charles Babbage' },
  })
  const parts = { made, another, lied }
  return { ...made, presentation: await presentationOf(name, present, parts) }
}

async function makeBatch(
  name: string,
  { size, validUntil, block }: NonNullable<Case['batch']>,
  made: Made,
): Promise<MadeBatch> {
  const entry = {
    documentHash: made.hash,
    validUntil: validUntil ?? made.validUntil,
  }
  const others = Array.from({ length: size - 1 }, (_, i) => ({
    documentHash: sha256(utf8ToBytes(`${name}/${i}`)),
    validUntil: 0,
  }))
  const issuer = { registry: REGISTRY, issuerId: 1 }
  const batch = await buildBatch(issuer, [entry, ...others])
  const truth = batch.blockOf(made.hash)
  if (!truth) throw new Error(`${name}: not in its batch`)
  const members = JSON.parse(decodeUtf8(encodeBatchBlock(truth)))
  const bytes = toCanonical({ ...members, ...block })
  const { root, manifest } = batch
  return { root, size, manifest, bytes, hash: sha256(bytes) }
}

async function makeSealed({ name, payload }: Case, lied: Lied | undefined): Promise<Made> {
  if ('sealed' in payload) return made(utf8ToBytes(payload.sealed), new Uint8Array(16))
  if ('golden' in payload) {
    const { sealed, documentKey, document } = named(golden.documents, payload.golden)
    const key = hexToBytes(documentKey)
    return made(utf8ToBytes(sealed), key, validUntilOf(document))
  }
  if ('mustFail' in payload) {
    const sealed = mustFail.cases.filter(({ format }) => format === 'sealed')
    const { input, documentKey = '' } = named(sealed, payload.mustFail)
    return made(utf8ToBytes(input), hexToBytes(documentKey))
  }
  return sealAs(name, lied ? { sd: lied.sd, document: {}, ...payload } : payload)
}

/** Seals like a gateway for a request whose Idempotency-Key is the case's name. */
async function sealAs(
  name: string,
  payload: { document: object; sd?: string | undefined } | { plaintext: string },
): Promise<Made> {
  const document = 'document' in payload ? withFields(payload.document) : {}
  const plaintext = 'plaintext' in payload ? utf8ToBytes(payload.plaintext) : toCanonical(document)
  const subkeys = deriveSubkeys(fromHex(ISSUER_SECRET))
  const salt = idempotentSalt(subkeys, {
    tenant: 'default',
    idempotencyKey: name,
    itemIndex: 0,
    document: plaintext,
  })
  const keys = deriveSealingKeys(subkeys, salt)
  const { bytes } =
    'document' in payload && payload.sd !== undefined
      ? await sealPlaintext(plaintext, payload.sd, keys)
      : await sealAnything(plaintext, keys)
  return made(bytes, keys.documentKey, validUntilOf(document))
}

function withFields(over: object): { expiresAt?: string } {
  const all = { ...FIELDS, registry: REGISTRY, issuerId: 1, ...over }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null))
}

function made(bytes: Uint8Array, documentKey: Uint8Array, validUntil = 0): Made {
  // An invalid date has no Unix time.
  const known = Number.isNaN(validUntil) ? 0 : validUntil
  return { bytes, hash: sha256(bytes), documentKey, validUntil: known }
}

function named<T extends { name: string }>(all: readonly T[], name: string): T {
  const found = all.find((one) => one.name === name)
  if (!found) throw new Error(`the vectors have no "${name}"`)
  return found
}
