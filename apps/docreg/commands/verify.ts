import type { Hex } from '#document/hex.ts'
import { decodePublicId } from '#document/public-id.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { createBundleSource, verifyBundle } from '#verifier/bundle.ts'
import { verifyCredential } from '#verifier/credential.ts'
import { headAgeOf, majorityOf } from '#verifier/defaults.ts'
import { parseDomain } from '#verifier/identity.ts'
import type { ChainReader, IdentitySource } from '#verifier/ports.ts'
import { verifyPresentation, verifyPresentationProof } from '#verifier/presentation.ts'
import { createChainReader, parseRegistry } from '#verifier/readers/chain.ts'
import { createIdentitySource, IDENTITY_TIMEOUT_MS } from '#verifier/readers/identity-source.ts'
import { createQuorumReader } from '#verifier/readers/quorum.ts'
import type { ProofOptions } from '#verifier/readers/state-proof.ts'
import type { PresentationVerdict, Verdict } from '#verifier/verdict.ts'
import { type VerifyOptions, verify } from '#verifier/verify.ts'
import { type CommandInput, defineCommand, type Options } from '../command.ts'
import { InputError, UsageError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'
import { printableJson } from '../printable.ts'
import { report } from '../report.ts'
import {
  type CommandSources,
  readBlockHashes,
  readSources,
  SOURCE_OPTIONS,
  wholeNumber,
} from '../sources.ts'
import { type Presented, readInput, readSubject, type Subject } from '../subject.ts'
import type { Terminal } from '../terminal.ts'

const OPTIONS = {
  ...SOURCE_OPTIONS,
  quorum: {
    value: '<number>',
    about: 'how many nodes must agree; default more than half',
    isSetting: true,
  },
  'issuer-domain': {
    value: '<domain>',
    about:
      'the domain that must vouch for the issuer, such as example.edu; otherwise the verdict is not valid',
    isSetting: true,
  },
  'no-identity': { about: "do not ask the issuer's domain whether it vouches for it" },
  'max-head-age': {
    value: '<seconds>',
    about:
      'the age from which the newest block of a node is stale; default 900, any age on chain 31337',
  },
  audience: {
    value: '<text>',
    about: 'whom the holder of a credential must have signed for',
  },
  nonce: { value: '<text>', about: 'what the holder of a credential must have signed' },
  bundle: { value: '<file>', about: 'verify this bundle offline' },
  'block-hash': {
    value: '<hash>',
    multiple: true,
    about: 'hash of a block that you trust, for a bundle or a presentation with a proof',
  },
} as const satisfies Options

export const verifyCommand = defineCommand({
  name: 'verify',
  group: 'Verify',
  summary: 'Check a document against the chain: VALID or not, and why',
  about: [
    'Name several nodes (--rpc) of different operators: otherwise the verdict relies on a single node.',
    'All users of the machine can see a publicId on the command line: use a file, or - for standard input.',
  ],
  args: [
    {
      name: '[document]',
      about:
        'a file (publicId, QR code as PNG or JPEG, bundle, presentation, credential), an address, a publicId, or -',
    },
  ],
  options: OPTIONS,
  examples: [
    [
      'A photo of a QR code; node and registry are in docreg.config.json',
      'docreg verify letter.jpg',
    ],
    [
      'Everything on the command line',
      'docreg verify letter.jpg --rpc https://rpc.example --ipfs https://ipfs.example --registry eip155:1:0x…',
    ],
    ['A bundle, offline', 'docreg verify bundle.json --block-hash 0x…'],
  ],
  exitCodes: '0 valid, 1 not valid, 2 no verdict (could not check, or no publicId could be read)',
  run: verifyDocument,
})

async function verifyDocument(
  { values, flags, args }: CommandInput<typeof OPTIONS>,
  terminal: Terminal,
): Promise<number> {
  const sources = readSources(values)
  const online = readOnline(values, sources)
  const trustedBlocks = readBlockHashes(values['block-hash'])
  const [given] = args
  if ((given ?? values.bundle) === undefined)
    throw new UsageError('one publicId, address or file is required')

  const input = await readInputs(given, values.bundle)
  const proven = provenIn(input, trustedBlocks)
  if (proven && flags['issuer-domain'] !== undefined)
    throw new UsageError('--issuer-domain cannot be used with a proof, which is verified offline')
  // Otherwise the user might think that a node's answer was checked against the block hash.
  if (!proven && trustedBlocks.length > 0)
    throw new UsageError('--block-hash requires a bundle, or a presentation with a proof')
  const { audience, nonce } = flags
  if (!('credential' in input) && (audience ?? nonce) !== undefined)
    throw new UsageError('--audience and --nonce require a credential')
  if ('publicId' in input) decodePublicId(input.publicId)
  const verdict = await (proven
    ? offline(proven, { ...sources, flags }, trustedBlocks)
    : ask(input, online, flags))
  const warnings = warningsOf(input, proven, sources)
  const { network } = sources
  terminal.write(
    values.json
      ? printableJson({ ...verdict, network, warnings })
      : report({ verdict, network, warnings }, terminal.paint),
  )
  if (verdict.valid) return EXIT.ok
  return verdict.status === 'unverifiable' ? EXIT.failed : EXIT.wrong
}

type Flags = CommandInput<typeof OPTIONS>['flags']
type Ask = () => VerifyOptions

function ask(
  input: Subject | Presented,
  online: Ask,
  { audience, nonce }: Pick<Flags, 'audience' | 'nonce'>,
): Promise<Verdict | PresentationVerdict> {
  const options = online()
  if ('credential' in input)
    return verifyCredential(input.credential, {
      ...options,
      ...(audience !== undefined && { audience }),
      ...(nonce !== undefined && { nonce }),
    })
  if ('presentation' in input) return verifyPresentation(input.presentation, options)
  const { publicId, bundle } = input
  // A bundle in a PDF needs no other source.
  const carried = bundle ? [createBundleSource(bundle.bundle)] : []
  return verify(publicId, { ...options, blocks: [...carried, ...options.blocks] })
}

/**
 * @returns The sources. Options are checked before anything is read, but a node is required only
 * when it is needed.
 */
function readOnline(
  values: IdentityValues & { quorum?: string; 'max-head-age'?: string },
  { registry, nodes, blocks, asOf, timeout }: CommandSources,
): Ask {
  const quorum = wholeNumber('quorum', values.quorum ?? String(majorityOf(nodes.length)), 1)
  const given = values['max-head-age']
  const { chainId } = parseRegistry(registry)
  const maxHeadAge =
    given === undefined ? headAgeOf(chainId) : wholeNumber('max-head-age', given, 1)
  const identity = readIdentityOptions(values, registry, timeout)
  const readers = nodes.map((node) => createChainReader(node, registry))
  return () => ({
    chain: readerOf(readers, quorum),
    blocks,
    finality: true,
    ...identity,
    ...(asOf !== undefined && { asOf }),
    ...(maxHeadAge !== undefined && { maxHeadAge }),
  })
}

type IdentityValues = { 'issuer-domain'?: string; 'no-identity'?: boolean }

/** @throws {UsageError} for an invalid domain, or one that must not be checked. */
function readIdentityOptions(
  values: IdentityValues,
  registry: RegistryId,
  timeout: number,
): Pick<VerifyOptions, 'identity' | 'issuerDomain'> {
  const { 'issuer-domain': issuerDomain, 'no-identity': isOff } = values
  if (issuerDomain === undefined) return isOff ? {} : { identity: sourceWithin(timeout) }
  if (isOff) throw new UsageError('--issuer-domain cannot be used with --no-identity')
  if (!parseDomain(issuerDomain, parseRegistry(registry).chainId))
    throw new UsageError(
      '--issuer-domain must be a domain in ASCII without a scheme, such as example.edu',
    )
  return { issuerDomain, identity: sourceWithin(timeout) }
}

function sourceWithin(timeout: number): IdentitySource {
  return createIdentitySource({
    timeout: Math.min(timeout, IDENTITY_TIMEOUT_MS),
  })
}

function readerOf(readers: ChainReader[], quorum: number): ChainReader {
  const [only] = readers
  if (only === undefined) throw new UsageError('--rpc is required')
  if (quorum > readers.length)
    throw new UsageError(`--quorum must be at most the number of --rpc, ${readers.length}`)
  return readers.length === 1 ? only : createQuorumReader(readers, quorum)
}

/**
 * @param bundle The path of `--bundle`. If a publicId is given too, the bundle must belong to it.
 */
async function readInputs(
  given: string | undefined,
  bundle: string | undefined,
): Promise<Subject | Presented> {
  if (bundle === undefined) return readInput(given ?? '')
  const proven = await readSubject(bundle)
  if (proven.bundle === undefined) throw new UsageError('--bundle must name the file of a bundle')
  if (given === undefined) return proven
  const { publicId, registryHint } = await readSubject(given)
  if (publicId !== proven.publicId)
    throw new InputError('bundle_of_another', 'the bundle belongs to another publicId')
  return registryHint === undefined ? proven : { ...proven, registryHint }
}

/** A file with a proof, and the proof's block. */
type Proven = {
  name: 'bundle' | 'presentation'
  block: { blockNumber: number; blockHash: Hex }
  verify(options: ProofOptions): Promise<Verdict | PresentationVerdict>
}

/**
 * @returns The input if it can be verified offline: a bundle, or a presentation with a trusted
 * block.
 */
function provenIn(input: Subject | Presented, trustedBlocks: Hex[]): Proven | undefined {
  if ('presentation' in input) {
    const { presentation, block } = input
    if (!block || trustedBlocks.length === 0) return undefined
    return {
      name: 'presentation',
      block,
      verify: (options) => verifyPresentationProof(presentation, options),
    }
  }
  if (input.bundle === undefined) return undefined
  if (input.fromPdf && trustedBlocks.length === 0) return undefined
  const { bundle, block } = input.bundle
  return {
    name: 'bundle',
    block,
    verify: (options) => verifyBundle(bundle, options),
  }
}

async function offline(
  proven: Proven,
  { registry, codeHash, flags }: CommandSources & { flags: Flags },
  trustedBlocks: Hex[],
): Promise<Verdict | PresentationVerdict> {
  const { name, block } = proven
  if ((flags.rpc ?? flags.ipfs ?? flags['as-of']) !== undefined)
    throw new UsageError(
      `a ${name} is verified offline and as of its block; --rpc, --ipfs and --as-of cannot be used`,
    )
  if (trustedBlocks.length === 0)
    throw new UsageError(
      `--block-hash is required: the hash of block ${block.blockNumber}, from a node or explorer that you trust`,
    )
  return proven.verify({
    registry,
    trustedBlocks,
    ...(codeHash !== undefined && { codeHash }),
  })
}

function warningsOf(
  input: Subject | Presented,
  proven: Proven | undefined,
  { registry }: CommandSources,
): string[] {
  const warnings: string[] = []
  const registryHint = 'presentation' in input ? input.presentation.registry : input.registryHint
  if (registryHint !== undefined && registryHint.toLowerCase() !== registry)
    warnings.push(
      `the input names another registry, ${registryHint}; the verdict comes from the registry that you trust, ${registry}`,
    )
  if (proven)
    warnings.push(
      `the ${proven.name} was made at block ${proven.block.blockNumber}, ${proven.block.blockHash}: it does not include later changes such as a revocation`,
    )
  return warnings
}
