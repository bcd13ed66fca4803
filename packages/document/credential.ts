import * as v from 'valibot'
import { decodeBase64url } from './base64url.ts'
import { MAX_VALID_UNTIL } from './batch/entry.ts'
import { decodeUtf8 } from './bytes.ts'
import { type FieldProblem, FormatError, refusingAs } from './errors.ts'
import { decodeJsonText, type JsonValue, parseStrictJson } from './json.ts'
import { type P256Key, p256Members } from './jwk.ts'
import { describeMember, problemsOf } from './members.ts'
import { type Presentation, parsePresentation } from './presentation.ts'

/**
 * A credential from a wallet (docs/formats.md, "The credential"): an SD-JWT VC whose claims and
 * disclosures are those of the sealed document, with or without a proof of its holder's key.
 */
export type Credential = {
  /** What it shows, without the sealed document. */
  presentation: Presentation
  /** The JWS of the issuer in compact form. */
  issuerJwt: string
  /** The `kid` of the issuer's key; absent when the header has certificates instead. */
  kid?: string
  /** The issuer: `https://<domain>` or `did:web:…`. */
  iss: string
  /** The expiry in seconds of the Unix epoch; absent = never expires. */
  exp?: number
  holderKey: P256Key
  /** The proof of the holder's key, and the text that it covers; absent = there is none. */
  keyBinding?: { jwt: string; covers: string }
}

const TYP = 'dc+sd-jwt'
/** A document has at most 32 KiB of metadata, each byte of which JSON may write as six. */
const MAX_TEXT = 512 * 1024
const MAX_NAME = 2_048
const MAX_CERTIFICATES = 10
/** The beginning of a compact SD-JWT; the header of a JWS is a JSON object. */
const START = /^ey[\w-]*\.[\w-]+\.[\w-]*~/

const name = v.pipe(
  v.string('must be a string'),
  v.minLength(1, 'must not be empty'),
  v.maxLength(MAX_NAME, `must have at most ${MAX_NAME} characters`),
)
const time = v.custom<number>(
  (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_VALID_UNTIL,
  'must be a whole number below 2^40',
)

const index = v.custom<number>(
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  'must be a whole number',
)

const header = v.pipe(
  v.strictObject(
    {
      alg: v.literal('ES256', 'must be ES256'),
      typ: v.literal(TYP, `must be ${TYP}`),
      kid: v.exactOptional(name),
      x5c: v.exactOptional(
        v.pipe(
          v.array(v.string('must be a string'), 'must be an array'),
          v.minLength(1, 'must not be empty'),
          v.maxLength(MAX_CERTIFICATES, `must have at most ${MAX_CERTIFICATES} certificates`),
        ),
      ),
    },
    describeMember,
  ),
  // Of both, readers differ in which counts.
  v.check(({ kid, x5c }) => (kid === undefined) !== (x5c === undefined), 'must have kid or x5c'),
)

/** The claims of the document, its hash and batch are checked as those of a presentation. */
const payload = v.strictObject(
  {
    _sd: v.unknown(),
    _sd_alg: v.unknown(),
    issuerId: v.unknown(),
    metadata: v.unknown(),
    registry: v.unknown(),
    documentHash: v.unknown(),
    batch: v.optional(v.unknown(), null),
    iss: name,
    iat: time,
    exp: v.exactOptional(time),
    vct: name,
    'vct#integrity': v.exactOptional(name),
    cnf: v.strictObject({ jwk: v.strictObject(p256Members, describeMember) }, describeMember),
    status: v.strictObject(
      { status_list: v.strictObject({ idx: index, uri: name }, describeMember) },
      describeMember,
    ),
  },
  describeMember,
)

/**
 * @returns Whether a text begins like a credential. It may still be malformed.
 *
 * @example
 * ```ts
 * isCredential(credential) // => true
 * isCredential(publicId) // => false
 * ```
 */
export function isCredential(text: string): boolean {
  return START.test(text)
}

/**
 * Reads the form of a credential. Warning: nothing in it is checked, neither signature nor chain;
 * the verifier does that.
 *
 * @param input An SD-JWT in compact form, as text or bytes, with or without a key binding. At most
 * 512 KiB.
 * @throws {FormatError} `credential_malformed`, with every bad member in `fields`.
 *
 * @example
 * ```ts
 * const { documentHash, disclosures } = parseCredential(credential)
 * ```
 */
export function parseCredential(input: string | Uint8Array): Credential {
  if (input.length > MAX_TEXT) throw malformed('the credential is too long')
  const text =
    typeof input === 'string' ? input : refusingAs(CODE, 'invalid UTF-8', () => decodeUtf8(input))
  if (!/^[!-~]*$/.test(text)) throw malformed('the credential has white space or other letters')
  const end = text.lastIndexOf('~') + 1
  const [issuerJwt = '', ...disclosures] = text.slice(0, end).split('~').slice(0, -1)
  if (disclosures.includes('')) throw malformed('the credential has an empty disclosure')
  const parts = parseJws(issuerJwt)
  const { kid } = parse(header, parts.header)
  const { iss, exp, cnf, documentHash, batch, ...claims } = parse(payload, parts.payload)
  const { _sd, _sd_alg, issuerId, metadata, registry } = claims
  return {
    presentation: presentationOf({
      registry,
      issuerId,
      documentHash,
      disclosures,
      batch,
      claims: { _sd, _sd_alg, issuerId, metadata, registry },
    }),
    issuerJwt,
    ...(kid !== undefined && { kid }),
    iss,
    ...(exp !== undefined && { exp }),
    holderKey: cnf.jwk,
    ...(end < text.length && { keyBinding: { jwt: text.slice(end), covers: text.slice(0, end) } }),
  }
}

const CODE = 'credential_malformed'

/**
 * @param jwt A JWS in compact form.
 * @returns Its header and payload, and the JSON of both is strict. Its signature is not checked.
 * @throws {FormatError} `credential_malformed`.
 */
export function parseJws(jwt: string): { header: JsonValue; payload: JsonValue } {
  const parts = jwt.split('.')
  if (parts.length !== 3) throw malformed('a JWS must have three parts')
  return refusingAs(CODE, 'invalid JWS', () => {
    const [header, payload] = parts.map((part) => decodeBase64url(part))
    const json = [header, payload].map((bytes = new Uint8Array()) =>
      parseStrictJson(decodeJsonText(bytes)),
    )
    return { header: json[0] ?? null, payload: json[1] ?? null }
  })
}

function parse<T extends v.GenericSchema>(schema: T, value: unknown): v.InferOutput<T> {
  const read = v.safeParse(schema, value)
  if (read.success) return read.output
  throw malformed('invalid credential', problemsOf(read.issues))
}

function presentationOf(shown: object): Presentation {
  try {
    return parsePresentation({
      type: 'document-registry-presentation',
      v: 1,
      ...shown,
      sealed: null,
      stateProof: null,
    })
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause
    throw malformed('invalid credential', cause.fields)
  }
}

function malformed(message: string, fields: readonly FieldProblem[] = []): FormatError {
  return new FormatError(CODE, message, { fields })
}
