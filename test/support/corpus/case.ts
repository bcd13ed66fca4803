import { existsSync, readdirSync, readFileSync } from 'node:fs'
import * as v from 'valibot'
import { REASON_NAMES } from '../../../verifier/reasons.ts'

const CASES = new URL('../../corpus/', import.meta.url)

/**
 * Who does it. `issuer` issues and revokes for issuer 1, `manager` runs it and may revoke, `other`
 * issues and revokes for issuer 2. Any other name is an account of this case alone, of issuer 1,
 * which may issue and revoke.
 */
const by = v.optional(v.string(), 'issuer')

/** In a case with a batch: the whole batch, not the document in it. */
const whole = v.optional(v.boolean(), false)

const step = v.union([
  v.strictObject({
    issue: v.strictObject({
      by,
      /** That of the record; that of the document if absent. */
      validUntil: v.optional(v.number()),
      /** In a case with a batch: the document itself, not its batch. */
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
    /** Distrusts an account from a mark on; from the current block on if absent. */
    distrust: v.strictObject({
      account: v.string(),
      from: v.optional(v.string()),
    }),
  }),
  v.strictObject({ retire: v.strictObject({ account: v.string() }) }),
  /** Remembers the number of the current block under this name. */
  v.strictObject({ mark: v.string() }),
  /** The next block has this time (ISO 8601). The case then has a chain of its own. */
  v.strictObject({ travelTo: v.string() }),
  /** The admin closes issuer 1. The case then has a chain of its own. */
  v.strictObject({ close: v.literal(true) }),
])
export type Step = v.InferOutput<typeof step>

/** Members over the true ones; `null` makes all of them zero or empty. */
const part = v.optional(
  v.nullable(v.record(v.string(), v.union([v.number(), v.string(), v.boolean()]))),
)

const lie = v.strictObject({
  /** What `verificationOf` answers instead. */
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
  /** Answers as if it had been asked about the record of this issuer. */
  v.strictObject({ asIssuer: v.number() }),
  /** Answers `eth_getLogs` with this error. */
  v.strictObject({
    logsError: v.strictObject({ code: v.number(), message: v.string() }),
  }),
  /** An honest node of a registry that has this uri of the issuer. */
  v.strictObject({ issuerUri: v.string() }),
  lie,
])
export type NodeKind = v.InferOutput<typeof node>

const source = v.picklist([
  'has',
  'missing',
  'gone',
  'http_500',
  'down',
  'slow',
  'wrong_bytes',
  'html',
  'too_large',
])
export type SourceKind = v.InferOutput<typeof source>

/** The issuer's domain's answer to a request for did.json. */
const didReply = v.union([
  v.picklist(['never', 'hang up']),
  v.strictObject({
    status: v.optional(v.number(), 200),
    document: v.optional(v.record(v.string(), v.unknown())),
    text: v.optional(v.string()),
    /** So many zero bytes. */
    zeros: v.optional(v.number()),
    location: v.exactOptional(v.string()),
    cors: v.exactOptional(v.literal(false)),
  }),
])
export type DidReply = v.InferOutput<typeof didReply>

const payload = v.union([
  /** Fields over those of a good document; `null` leaves one out. */
  v.strictObject({
    document: v.record(v.string(), v.unknown()),
    /** What the header has for `sd`; else what belongs there. */
    sd: v.optional(v.string()),
  }),
  /** Sealed as it stands. */
  v.strictObject({ plaintext: v.string() }),
  /** The sealed bytes themselves, with any key. */
  v.strictObject({ sealed: v.string() }),
  /** The name of a `sealed` case of test/vectors/must-fail.json. */
  v.strictObject({ mustFail: v.string() }),
  /** The name of a document of test/vectors/documents.json. */
  v.strictObject({ golden: v.string() }),
])
export type Payload = v.InferOutput<typeof payload>

/** The document is then one of a batch, and the publicId of kind 2. */
const batch = v.strictObject({
  /** How many documents it has. */
  size: v.optional(v.number(), 5),
  /** That of the leaf; that of the document if absent. */
  validUntil: v.optional(v.number()),
  /** Members over those of the true batch block. */
  block: v.optional(v.record(v.string(), v.unknown()), {}),
  /** What each source does with the batch block; `has` where absent. */
  sources: v.optional(v.array(source), []),
})

const ask = v.strictObject({
  /** The publicId with something in it changed, and a checksum that fits. */
  kind: v.optional(v.number()),
  issuerId: v.optional(v.number()),
  documentKey: v.optional(v.string()),
  /** Which character of the publicId is mistyped. */
  typo: v.optional(v.number()),
  /** Not the publicId at all, but this. */
  text: v.optional(v.string()),
  /** As the address of a verify page, which names this registry. */
  address: v.optional(v.strictObject({ page: v.string(), registry: v.string() })),
  /** The name of a mark, or a block number. */
  asOf: v.optional(v.union([v.string(), v.number()])),
  /** How many nodes must agree. */
  quorum: v.optional(v.number()),
  /** The domain that must vouch for the issuer. */
  issuerDomain: v.optional(v.string()),
})

const entries = v.optional(v.array(v.tuple([v.string(), v.string()])), [])

/** The reader holds a presentation of the document in the place of its publicId. */
const present = v.strictObject({
  fields: v.optional(v.array(v.string()), ['subjectName']),
  metadata: v.optional(v.array(v.string()), []),
  /** Whether the sealed document is in the file. */
  sealed: v.optional(v.boolean(), false),
  /** Members that are those of a presentation of another document. */
  fromAnother: v.optional(v.array(v.picklist(['claims', 'disclosures', 'sealed'])), []),
  /** Names and values of disclosures that were added. */
  forged: entries,
  /** Whether each disclosure is there twice. */
  repeated: v.optional(v.boolean(), false),
  /** Members over those of the file, and over those of an object in it. */
  change: v.optional(v.record(v.string(), v.unknown()), {}),
  /** Not a presentation at all, but this. */
  text: v.optional(v.string()),
  /** A lying issuer sealed claims of these in the place of the document's, and all are shown. */
  issuer: v.optional(
    v.strictObject({
      fields: entries,
      metadata: entries,
      registry: v.optional(v.string()),
      issuerId: v.optional(v.number()),
      /** Whether the first digest of the fields is in both lists. */
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
    /** Whether the document is shown. */
    document: v.boolean(),
    /** Of a presentation: exactly what is shown. */
    disclosed: v.optional(v.record(v.string(), v.unknown())),
    /** `<outcome> <code>` of the check `identity`; compared only where it stands here. */
    identity: v.optional(v.string()),
    /** The same in a browser, where that differs. */
    identityInBrowser: v.optional(v.string()),
    /** What the REST API says in place of `status`, in its own words (docs/integrate.md). */
    restStatus: v.optional(v.picklist(['pending', 'erased'])),
    /** Whether the reader learns that a revocation was set aside. */
    setAside: v.optional(v.boolean()),
    /** Whether the verdict reports that the address names another registry. */
    otherRegistryHinted: v.optional(v.boolean()),
  }),
  /** Malformed: the code of formats.md §7 or §17, and nothing is asked of anybody. */
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
  /** The issuer's domain, which the reader then asks. */
  domain: v.optional(didReply),
  ask: v.optional(ask, {}),
  /** What a gateway of this issuer knows besides. Only the REST API differs by it. */
  gateway: v.optional(v.picklist(['promised', 'erased'])),
  expected,
})

/** One case of the corpus, as test/corpus/README.md describes it. */
export type Case = v.InferOutput<typeof corpusCase> & { name: string }

/**
 * @returns All cases, by name. @throws {Error} that names the case and every field that is wrong.
 */
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
