import { existsSync, readdirSync, readFileSync } from 'node:fs'
import * as v from 'valibot'
import { REASON_NAMES } from '#verifier/reasons.ts'

const CASES = new URL('../../../tools/corpus/cases/', import.meta.url)

/**
 * The acting account. `issuer` issues and revokes for issuer 1, `manager` manages issuer 1 and may
 * revoke, `other` issues and revokes for issuer 2. Any other name is an account of issuer 1 that
 * only this case has; it may issue and revoke, and `deputy` may manage too.
 */
const by = v.optional(v.string(), 'issuer')

/** In a case with a batch: acts on the whole batch, not the document. */
const whole = v.optional(v.boolean(), false)

const step = v.union([
  v.strictObject({
    issue: v.strictObject({
      by,
      /** The record's expiry; absent = that of the document. */
      validUntil: v.optional(v.number()),
      /** In a case with a batch, this is done to the document, not its batch. */
      alone: v.optional(v.boolean(), false),
    }),
  }),
  v.strictObject({
    revoke: v.strictObject({ by, whole, reason: v.picklist(REASON_NAMES) }),
  }),
  v.strictObject({ suspend: v.strictObject({ by, whole }) }),
  v.strictObject({ release: v.strictObject({ by, whole }) }),
  v.strictObject({ supersede: v.strictObject({ by }) }),
  v.strictObject({
    /** Distrusts an account from a mark on; absent = from the current block on. */
    distrust: v.strictObject({
      account: v.string(),
      from: v.optional(v.string()),
    }),
  }),
  v.strictObject({ retire: v.strictObject({ account: v.string() }) }),
  /** Remembers the number of the current block under this name. */
  v.strictObject({ mark: v.string() }),
  /** The time of the next block (ISO 8601). Such a case has its own chain. */
  v.strictObject({ travelTo: v.string() }),
  /** The admin closes issuer 1. Such a case has its own chain. */
  v.strictObject({ close: v.literal(true) }),
  /**
   * The admin sets issuer 1's texts to these bytes (in hexadecimal). Such a case has its own chain.
   */
  v.strictObject({
    texts: v.strictObject({ name: v.optional(v.string()), uri: v.optional(v.string()) }),
  }),
])
export type Step = v.InferOutput<typeof step>

/** Replaces members of the true answer; `null` makes all of them zero or empty. */
const part = v.optional(
  v.nullable(v.record(v.string(), v.union([v.number(), v.string(), v.boolean()]))),
)

const lie = v.strictObject({
  /** Replaces the answer of `verificationOf`. */
  lie: v.strictObject({
    status: v.optional(v.number()),
    blockTime: v.optional(v.number()),
    record: part,
    account: part,
    revoker: part,
    issuer: part,
  }),
})
const node = v.union([
  v.picklist([
    'honest',
    'down',
    'slow',
    'http_500',
    'rpc_error',
    'garbage',
    'no_code',
    'no_logs',
    'wrong_log',
    'null_log',
    'null_log_index',
    'null_logs',
    'error_false',
    'error_and_result',
    'other_chain',
  ]),
  v.strictObject({ stale: v.string() }),
  /** Answers with the record of this issuer. */
  v.strictObject({ asIssuer: v.number() }),
  /** Answers `eth_getLogs` with this error. */
  v.strictObject({
    logsError: v.strictObject({ code: v.number(), message: v.string() }),
  }),
  /** An honest node of a registry in which the issuer has this uri. */
  v.strictObject({ issuerUri: v.string() }),
  lie,
])
export type NodeKind = v.InferOutput<typeof node>

const source = v.picklist([
  'has',
  'missing',
  'missing_unfinished',
  'gone',
  'http_500',
  'down',
  'slow',
  'wrong_bytes',
  'html',
  'too_large',
])
export type SourceKind = v.InferOutput<typeof source>

/** The answer of the issuer's domain to a request for did.json. */
const didReply = v.union([
  v.picklist(['never', 'hang up']),
  v.strictObject({
    status: v.optional(v.number(), 200),
    document: v.optional(v.record(v.string(), v.unknown())),
    text: v.optional(v.string()),
    /** A number of zero bytes. */
    zeros: v.optional(v.number()),
    location: v.exactOptional(v.string()),
    cors: v.exactOptional(v.literal(false)),
  }),
])
export type DidReply = v.InferOutput<typeof didReply>

const payload = v.union([
  /** Replaces fields of a valid document; `null` removes one. */
  v.strictObject({
    document: v.record(v.string(), v.unknown()),
    /** The `sd` in the header; absent = the right one. */
    sd: v.optional(v.string()),
  }),
  /** Plaintext to seal unchanged. */
  v.strictObject({ plaintext: v.string() }),
  /** The sealed bytes themselves; the key does not fit. */
  v.strictObject({ sealed: v.string() }),
  /** The name of a `sealed` case of tools/corpus/vectors/must-fail.json. */
  v.strictObject({ mustFail: v.string() }),
  /** The name of a document of tools/corpus/vectors/documents.json. */
  v.strictObject({ golden: v.string() }),
])
export type Payload = v.InferOutput<typeof payload>

/** Issues the document in a batch, with a publicId of kind 2. */
const batch = v.strictObject({
  /** The number of documents in the batch. */
  size: v.optional(v.number(), 5),
  /** The leaf's expiry; absent = that of the document. */
  validUntil: v.optional(v.number()),
  /** Replaces members of the true batch block. */
  block: v.optional(v.record(v.string(), v.unknown()), {}),
  /** How each source answers for the batch block; absent = `has`. */
  sources: v.optional(v.array(source), []),
})

const ask = v.strictObject({
  /** A changed publicId with a valid checksum. */
  kind: v.optional(v.number()),
  issuerId: v.optional(v.number()),
  documentKey: v.optional(v.string()),
  /** The index of a mistyped character of the publicId. */
  typo: v.optional(v.number()),
  /** Replaces the whole publicId. */
  text: v.optional(v.string()),
  /** Wraps the publicId in a verify link that names this registry. */
  address: v.optional(v.strictObject({ page: v.string(), registry: v.string() })),
  /** The name of a mark, or a block number. */
  asOf: v.optional(v.union([v.string(), v.number()])),
  /** The quorum. */
  quorum: v.optional(v.number()),
  /** The domain that must vouch for the issuer. */
  issuerDomain: v.optional(v.string()),
})

const entries = v.optional(v.array(v.tuple([v.string(), v.string()])), [])

/** What a JWS has in place of the right members, and who signed it; `null` leaves a member out. */
const jws = {
  header: v.optional(v.record(v.string(), v.unknown())),
  payload: v.optional(v.record(v.string(), v.unknown())),
  by: v.optional(v.picklist(['issuer', 'holder', 'stranger', 'hmac', 'nobody'])),
}

/** The reader has a presentation of the document instead of its publicId. */
const present = v.strictObject({
  fields: v.optional(v.array(v.string()), ['subjectName']),
  metadata: v.optional(v.array(v.string()), []),
  /** Whether the file includes the sealed document. */
  sealed: v.optional(v.boolean(), false),
  /** Members taken from a presentation of another document. */
  fromAnother: v.optional(v.array(v.picklist(['claims', 'disclosures', 'sealed'])), []),
  /** Names and values of added disclosures. */
  forged: entries,
  /** Whether each disclosure is duplicated. */
  repeated: v.optional(v.boolean(), false),
  /** Replaces members of the file; merges objects in it. */
  change: v.optional(v.record(v.string(), v.unknown()), {}),
  /** Replaces the whole presentation or credential. */
  text: v.optional(v.string()),
  /** The reader has the credential that shows it instead of the file. */
  credential: v.optional(
    v.strictObject({
      ...jws,
      holder: v.optional(v.strictObject(jws)),
      /** What stands behind it. */
      behind: v.optional(v.string(), ''),
    }),
  ),
  /** A lying issuer sealed these claims instead of the document's; all are disclosed. */
  issuer: v.optional(
    v.strictObject({
      fields: entries,
      metadata: entries,
      registry: v.optional(v.string()),
      issuerId: v.optional(v.number()),
      /** Whether both lists contain the first digest of the fields. */
      digestRepeated: v.optional(v.boolean(), false),
    }),
  ),
})
export type Present = v.InferOutput<typeof present>

const expected = v.union([
  v.strictObject({
    status: v.string(),
    /** `<check> <outcome> <code>` of every check that does not pass, in any order. */
    notPassed: v.array(v.string()),
    /** Whether the reader sees the document. */
    document: v.boolean(),
    /** For a presentation: exactly the disclosed fields. */
    disclosed: v.optional(v.record(v.string(), v.unknown())),
    /** `<outcome> <code>` of the check `identity`; not compared if absent. */
    identity: v.optional(v.string()),
    /** The expectation in a browser, if it differs. */
    identityInBrowser: v.optional(v.string()),
    /** The REST API's status, if it differs (docs/integrate.md). */
    restStatus: v.optional(v.picklist(['pending', 'erased'])),
    /** Whether the reader learns that a revocation was set aside. */
    setAside: v.optional(v.boolean()),
    /** Whether the reader learns that the issuer is closed. */
    issuerClosed: v.optional(v.boolean()),
    /** Whether the verdict says that the address names another registry. */
    otherRegistryHinted: v.optional(v.boolean()),
  }),
  /** Malformed input, with the code of formats.md §7 or §17; no requests are made. */
  v.strictObject({ error: v.string() }),
])
export type Expected = v.InferOutput<typeof expected>

const corpusCase = v.strictObject({
  title: v.string(),
  why: v.string(),
  payload: v.optional(payload, { document: {} }),
  batch: v.optional(batch),
  present: v.optional(present),
  chain: v.optional(v.array(step), [{ issue: {} }]),
  nodes: v.optional(v.array(node), ['honest']),
  sources: v.optional(v.array(source), ['has']),
  /** The issuer's domain; the reader checks it. */
  domain: v.optional(didReply),
  ask: v.optional(ask, {}),
  /** Additional knowledge of the issuer's gateway; affects only the REST API. */
  gateway: v.optional(v.picklist(['promised', 'erased'])),
  expected,
})

/** A case of the corpus; tools/corpus/MAKING.md describes it. */
export type Case = v.InferOutput<typeof corpusCase> & { name: string }

/** @returns All cases, by name. @throws {Error} that names the case and every bad field. */
export function readCases(): Case[] {
  return readdirSync(CASES, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .map(readCase)
}

function readCase(name: string): Case {
  const file = new URL(`${name}/case.json`, CASES)
  if (!existsSync(file)) throw new Error(`${name}: no case.json`)
  const result = v.safeParse(corpusCase, JSON.parse(readFileSync(file, 'utf8')))
  if (!result.success)
    throw new Error(
      `${name}: ${result.issues.map((i) => `${v.getDotPath(i)} ${i.message}`).join('; ')}`,
    )
  return { ...result.output, name }
}
