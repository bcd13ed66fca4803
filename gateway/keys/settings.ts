import * as v from 'valibot'
import { clock } from '#base/clock.ts'
import { Refusal } from '#base/refusal.ts'
import { SCOPES } from './grant.ts'
import type { ApiKey } from './ports.ts'

const MAX_LABEL = 100
const MAX_CATEGORIES = 100
/** The maximum number of requests per second. */
const MAX_RATE_LIMIT = 100_000
/** The maximum overlap is thirty days. */
const MAX_OVERLAP_SECONDS = 30 * 86_400
/** The default overlap is a day. */
const OVERLAP_SECONDS = 86_400
export const DEFAULT_TENANT = 'default'

const isDistinct = (list: readonly string[]) => new Set(list).size === list.length

/** A label consists of code points other than control characters and lone surrogates. */
const LABEL = new RegExp(`^[^\\p{Cc}\\p{Cs}]{1,${MAX_LABEL}}$`, 'u')
export const label = v.pipe(
  v.string('must be a string'),
  v.metadata({
    minLength: 1,
    maxLength: MAX_LABEL,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
  }),
  v.check(
    (text) => LABEL.test(text),
    `must have 1 to ${MAX_LABEL} characters, and no control characters`,
  ),
)
const scopes = v.pipe(
  v.array(v.picklist(SCOPES, `must be one of ${SCOPES.join(', ')}`), 'must be a list'),
  v.minLength(1, 'must not be empty'),
  v.check((list) => isDistinct(list), 'must not name a scope twice'),
  v.metadata({ uniqueItems: true }),
)
export const categories = v.pipe(
  v.array(
    v.pipe(
      v.string('must be a string'),
      v.maxLength(64, 'must have at most 64 characters'),
      v.regex(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/, 'must be lower snake case'),
    ),
    'must be a list',
  ),
  v.minLength(1, 'must not be empty'),
  v.maxLength(MAX_CATEGORIES, `must have at most ${MAX_CATEGORIES} categories`),
  v.check((list) => isDistinct(list), 'must not name a category twice'),
  v.metadata({ uniqueItems: true }),
)
export const tenant = v.pipe(
  v.string('must be a string'),
  v.regex(
    /^[A-Za-z0-9._-]{1,64}$/,
    'must be 1 to 64 letters, digits, dots, underscores and hyphens',
  ),
)
/** A whole number in a body. */
export const whole = (min: number, max: number) =>
  v.pipe(
    v.number('must be a number'),
    v.integer('must be a whole number'),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  )
/** A time in RFC 3339. */
export const INSTANT =
  /^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$/
const expiresAt = v.pipe(
  v.string('must be a string'),
  v.check((text) => INSTANT.test(text), 'must be an RFC 3339 time, such as 2030-01-31T00:00:00Z'),
  v.metadata({ format: 'date-time', description: 'When the key expires, in the future.' }),
  v.check((text) => Date.parse(text) > clock.wall(), 'must be in the future'),
  v.check(
    (text) => new Date(text).getUTCFullYear() < 10_000,
    'must be before the year 10000 in UTC',
  ),
  v.transform((text) => new Date(text).toISOString()),
)

/** The settings of a new key. */
export const keySettings = v.strictObject({
  scopes,
  tenant: v.optional(tenant, DEFAULT_TENANT),
  label: v.exactOptional(label),
  categories: v.exactOptional(categories),
  rateLimit: v.exactOptional(whole(1, MAX_RATE_LIMIT)),
  expiresAt: v.exactOptional(expiresAt),
})
export type KeySettings = Pick<
  ApiKey,
  'scopes' | 'tenant' | 'label' | 'categories' | 'rateLimit' | 'expiresAt'
>

/** The settings that can be changed later; `null` removes a setting. */
export const keyChanges = v.strictObject({
  scopes: v.exactOptional(scopes),
  label: v.exactOptional(v.nullable(label)),
  categories: v.exactOptional(v.nullable(categories)),
  rateLimit: v.exactOptional(v.nullable(whole(1, MAX_RATE_LIMIT))),
  expiresAt: v.exactOptional(v.nullable(expiresAt)),
})
export type KeyChanges = v.InferOutput<typeof keyChanges>

/** The settings of a rotation. */
export const rotation = v.strictObject({
  /** How long the old key stays valid, in seconds. */
  overlapSeconds: v.optional(whole(0, MAX_OVERLAP_SECONDS), OVERLAP_SECONDS),
  expiresAt: v.exactOptional(expiresAt),
})

/**
 * @throws {Refusal} `bad_fields` for a key with `admin` and a list of categories, because it
 * could create a key without that list.
 */
export function assertConsistent({
  scopes,
  categories,
}: Pick<KeySettings, 'scopes' | 'categories'>): void {
  if (scopes.includes('admin') && categories !== undefined)
    throw new Refusal(
      'bad_fields',
      'must be absent for the scope admin, which can create keys for any category',
      { field: 'categories' },
    )
}
