import { isIP } from 'node:net'
import { parseUnits } from 'ethers/utils'
import * as v from 'valibot'
import type { Hex } from '#document/hex.ts'
import { BAD_LIVE_CHAIN, parseLiveChain } from '#verifier/network.ts'

// Schemas for the values of environment variables. Each parses the text of one variable.

/** A URL without slashes at the end. */
export const httpUrl = v.pipe(
  v.string(),
  v.check(
    (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
    'must be an http or https URL',
  ),
  v.transform((text) => text.replace(/\/+$/, '')),
)

export const databaseUrl = v.pipe(
  v.string(),
  v.trim(),
  v.regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL'),
  v.check(
    isUnambiguous,
    'cannot be read: write @ # % / ? and spaces in user and password as %40 %23 %25 %2F %3F %20',
  ),
)

/** Whether nothing of a password can have become a part of something else. */
function isUnambiguous(text: string): boolean {
  const url = URL.parse(text)
  if (!url || / |%(?![0-9a-f]{2})/i.test(text)) return false
  return !text.includes('#') && !`${url.pathname}${url.search}`.includes('@')
}

export const pageUrl = v.pipe(
  httpUrl,
  v.check(
    (text) => !text.includes('#'),
    'must not have a fragment, because the publicId is put there',
  ),
)

/** URLs separated by commas; empty when absent. */
export const urls = v.pipe(
  v.optional(v.string(), ''),
  v.transform((text) => text.split(',').filter((url) => url.trim() !== '')),
  v.array(v.pipe(v.string(), v.trim(), httpUrl)),
  // An endpoint that is named twice would count as two that agree.
  v.transform((list) => [...new Set(list)]),
)

/** Paths separated by commas. */
export const paths = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').map((path) => path.trim())),
  v.array(v.pipe(v.string(), v.minLength(1, 'has an empty path'))),
)

export const wholeNumber = (min: number, max: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,9}$/, 'must be a whole number'),
    v.transform(Number),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  )

export const port = (min: number) => wholeNumber(min, 65_535)

/** At most an hour; parsed to milliseconds. */
export const seconds = (fallback: string, min: number) =>
  v.pipe(
    v.optional(wholeNumber(min, 3_600), fallback),
    v.transform((value) => value * 1000),
  )

/** Bytes in hexadecimal, parsed to lower case. */
export const hex = (bytes: number, message: string) =>
  v.pipe(
    v.string(),
    v.regex(new RegExp(`^0x[0-9a-fA-F]{${2 * bytes}}$`), message),
    v.transform((text) => text.toLowerCase() as Hex),
  )

/**
 * The number is limited because a request with an idempotency key is sealed once with each secret.
 */
const MAX_SECRETS = 16

/** Secrets of 32 bytes each, separated by commas, the newest first. */
export const secrets = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').map((secret) => secret.trim())),
  v.array(
    hex(
      32,
      'must be 0x followed by 64 hexadecimal digits, or several of these, separated by commas',
    ),
  ),
  v.maxLength(MAX_SECRETS, `must have at most ${MAX_SECRETS} secrets`),
  v.check((list) => new Set(list).size === list.length, 'must not name a secret twice'),
  v.transform((list) => list as [Hex, ...Hex[]]),
)

/** The maximum number of accounts of an issuer that gateways share. */
const MAX_ACCOUNTS = 64

/** Values as in `hex`, separated by commas and without duplicates. */
export const hexList = (bytes: number, message: string) =>
  v.pipe(
    v.string(),
    v.transform((text) => text.split(',').map((one) => one.trim())),
    v.array(hex(bytes, `${message}, or several of these, separated by commas`)),
    v.maxLength(MAX_ACCOUNTS, `must have at most ${MAX_ACCOUNTS} accounts`),
    v.check((list) => new Set(list).size === list.length, 'must not name an account twice'),
  )

/** The largest 32-bit number. The registry numbers its issuers from 1. */
const MAX_ISSUER_ID = 2 ** 32 - 1

export const issuerId = v.pipe(
  v.string(),
  v.regex(/^[1-9]\d{0,9}$/, 'must be a whole number, at least 1'),
  v.transform(Number),
  v.maxValue(MAX_ISSUER_ID, `must be at most ${MAX_ISSUER_ID}`),
)

/** Chain ids separated by commas; empty when absent. */
export const liveChains = v.pipe(
  v.optional(v.string(), ''),
  v.transform((text) => text.split(',').filter((part) => part.trim() !== '')),
  v.array(
    v.pipe(
      v.string(),
      v.trim(),
      v.check((text) => parseLiveChain(text) !== undefined, BAD_LIVE_CHAIN),
      v.transform(Number),
    ),
  ),
)

/**
 * A text in the registry. @param maxBytes The maximum bytes of UTF-8, as the contract counts them.
 */
export const registered = (maxBytes: number) =>
  v.pipe(
    v.string(),
    v.check((text) => Buffer.byteLength(text) <= maxBytes, `must have at most ${maxBytes} bytes`),
  )

/** An amount, parsed to wei. */
export const amount = (unit: 'gwei' | 'ether') =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,9}(\.\d{1,9})?$/, `must be a number of ${unit}, such as 20 or 0.5`),
    v.transform((text) => parseUnits(text, unit)),
  )

/** An amount in wei, `off`, or absent. */
export const cap = v.optional(
  v.union([v.literal('off'), amount('ether')], 'must be a number of ether, such as 0.5, or off'),
)

/** A bearer token (RFC 6750 §2.1). */
export const bearerToken = v.pipe(
  v.string(),
  v.regex(
    /^[A-Za-z0-9\-._~+/]{1,256}=*$/,
    'must be a bearer token (RFC 6750): letters, digits and -._~+/',
  ),
)

/** Requests per second, or `off`. */
export const rateLimit = v.union(
  [v.literal('off'), wholeNumber(1, 100_000)],
  'must be a whole number from 1 to 100000, or off',
)

/** Addresses and networks (CIDR) separated by commas; empty when absent. */
export const networks = v.pipe(
  v.optional(v.string(), ''),
  v.transform((text) => text.split(',').map((part) => part.trim())),
  v.transform((parts) => parts.filter((part) => part !== '')),
  v.array(
    v.pipe(
      v.string(),
      v.check(
        isNetwork,
        'must be IP addresses or networks, separated by commas, such as 10.0.0.7,192.168.0.0/16,::1',
      ),
    ),
  ),
)

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  if (prefix === undefined) return true
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 6 ? 128 : 32)
}
