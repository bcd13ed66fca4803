import { writeFile } from 'node:fs/promises'
import * as v from 'valibot'
import type { Hex } from '#document/hex.ts'
import { decodeJsonText, parseStrictJson } from '#document/json.ts'
import { p256Members } from '#document/jwk.ts'
import { parseRegistryId } from '#document/registry-id.ts'
import {
  createDidDocument,
  identityAddressOf,
  uriOf,
  type VerificationKey,
} from '#verifier/identity.ts'
import { type CommandInput, defineCommand, type Options } from '../command.ts'
import { InputError, UsageError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'
import { readInputFile } from '../files.ts'
import { type Claim, type Finding, inspectIdentity, serverLinesFor } from '../identity-check.ts'
import { printable, printableJson } from '../printable.ts'
import { trustedRegistry } from '../registry.ts'
import { REGISTRY_OPTION, wholeNumber } from '../sources.ts'
import type { Terminal } from '../terminal.ts'

const OPTIONS = {
  registry: REGISTRY_OPTION,
  issuer: { value: '<id>', about: 'the number of the issuer there', isSetting: true },
  domain: { value: '<domain>', about: "the issuer's domain, in ASCII: example.edu" },
  uri: {
    value: '<uri>',
    about:
      "instead of --domain, the issuer's uri in the registry: https://host[/path] or did:web:host[:path]; on chain 31337 also http://localhost:<port>",
  },
  account: {
    value: '<address>',
    multiple: true,
    about: 'an account that may issue for the domain; default all accounts of the issuer',
  },
  keys: {
    value: '<file>',
    about:
      'the keys that sign credentials for wallets, as the gateway serves them at /.well-known/jwt-vc-issuer',
  },
  out: { value: '<file>', about: 'where to write did.json; default standard output' },
} as const satisfies Options

export const identityCommand = defineCommand({
  name: 'identity',
  group: 'Operate',
  summary: 'Write the file with which a domain vouches for an issuer, or check it',
  about: [
    'Says where to serve the file. "check" asks the server for it as a verifier and a browser do, and says what to change.',
  ],
  args: [{ name: '[check]', about: 'check the file on the server', choices: ['check'] }],
  options: OPTIONS,
  examples: [
    ['The file for example.edu', 'docreg identity --issuer 1 --domain example.edu --out did.json'],
    ['Whether it is served well', 'docreg identity check --issuer 1 --domain example.edu'],
  ],
  exitCodes:
    '0 written, or nothing to change, 1 something must change, 2 could not be written or checked',
  run: identity,
})

async function identity(
  { values, args: [action] }: CommandInput<typeof OPTIONS>,
  terminal: Terminal,
): Promise<number> {
  const claim = readClaim(values)
  if (action === 'check') {
    if (values.out !== undefined || values.keys !== undefined)
      throw new UsageError('--out and --keys cannot be used with check, which writes no file')
    return check(claim, values.json ?? false, terminal)
  }
  if (values.json) throw new UsageError('--json requires check')
  const keys = values.keys === undefined ? [] : await readKeys(values.keys)
  await write(claim, { keys, out: values.out }, terminal)
  return EXIT.ok
}

/** @throws {UsageError} for the first bad option. */
function readClaim(values: {
  registry?: string
  issuer?: string
  domain?: string
  uri?: string
  account?: string[]
}): Claim {
  const { registry } = trustedRegistry(values.registry)
  const { issuer, domain, uri, account: accounts = [] } = values
  if (issuer === undefined) throw new UsageError('--issuer is required')
  const issuerId = wholeNumber('issuer', issuer, 1)
  if (issuerId > 0xffff_ffff) throw new UsageError(`--issuer must be at most ${0xffff_ffff}`)
  if ((domain === undefined) === (uri === undefined))
    throw new UsageError('give either --domain or --uri')
  const { chainId } = parseRegistryId(registry)
  const address = identityAddressOf(uri ?? `https://${domain}`, chainId)
  if (!address)
    throw new UsageError(
      uri === undefined
        ? '--domain must be a domain in ASCII, such as example.edu, optionally with a port and a path'
        : '--uri must be https://host[/path] or did:web:host[:path], with a domain in ASCII',
    )
  if (!accounts.every((one) => /^0x[0-9a-fA-F]{40}$/.test(one)))
    throw new UsageError('--account must be 0x followed by 40 hexadecimal digits')
  return {
    address,
    registry,
    issuerId,
    accounts: accounts.map((one) => one.toLowerCase() as Hex),
  }
}

/** The metadata of an issuer of SD-JWT VCs, as far as it has P-256 keys. */
const jwtVcIssuer = v.object({
  jwks: v.object({ keys: v.array(v.object({ ...p256Members, kid: v.string() })) }),
})

/** @throws {InputError} `not_possible` for a file without such keys. */
async function readKeys(file: string): Promise<VerificationKey[]> {
  try {
    const text = decodeJsonText(await readInputFile(file)).trim()
    return v.parse(jwtVcIssuer, parseStrictJson(text)).jwks.keys
  } catch (cause) {
    if (cause instanceof InputError) throw cause
    throw new InputError(
      'not_possible',
      `${file} is not the metadata of an issuer of credentials`,
      cause,
    )
  }
}

async function write(
  { address, ...stated }: Claim,
  { keys, out }: { keys: readonly VerificationKey[]; out: string | undefined },
  terminal: Terminal,
): Promise<void> {
  const document = createDidDocument({ did: address.did, ...stated, keys })
  const text = JSON.stringify(document, null, 2)
  if (out === undefined) {
    terminal.write(text)
    return
  }
  try {
    await writeFile(out, `${text}\n`)
  } catch (cause) {
    throw new InputError('unwritable', `${out} cannot be written`, cause)
  }
  terminal.write(
    [
      `Serve ${out} at ${address.url}, with the header Access-Control-Allow-Origin: *`,
      `The issuer's uri in the registry must be ${uriOf(address)}`,
      ...serverLinesFor(address),
      '',
      'Then run the same command with "check".',
    ].join('\n'),
  )
}

async function check(claim: Claim, json: boolean, terminal: Terminal): Promise<number> {
  const findings = await inspectIdentity(claim)
  const { url, did, domain } = claim.address
  const isServed = !findings.some(({ code }) => code === 'unreachable')
  const isLinked = findings.every(({ outcome }) => outcome !== 'fail')
  if (json) terminal.write(printableJson({ url, did, domain, isLinked, findings }))
  else {
    terminal.write([url, ...findings.map((finding) => lineOf(finding, terminal))].join('\n'))
    if (isServed && !isLinked) terminal.write(['', ...serverLinesFor(claim.address)].join('\n'))
  }
  if (isLinked) return EXIT.ok
  return isServed ? EXIT.wrong : EXIT.failed
}

const COLOURS = { pass: 'green', fail: 'red', warning: 'yellow' } as const

function lineOf({ outcome, check, message }: Finding, { paint }: Terminal): string {
  const shown = paint(COLOURS[outcome], outcome.padEnd(7))
  return `  ${shown}  ${check.padEnd(8)}  ${printable(message)}`
}
