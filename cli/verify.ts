import { parseArgs } from 'node:util'
import { decodePublicId } from '../document/public-id.ts'
import { createChainReader, parseRegistry } from '../verifier/readers/chain.ts'
import { createIpfsGatewaySource } from '../verifier/readers/ipfs-gateway.ts'
import { createFetchProvider } from '../verifier/readers/json-rpc.ts'
import { verify } from '../verifier/verify.ts'
import { UsageError } from './errors.ts'
import { printableJson } from './printable.ts'
import { trustedRegistry } from './registry.ts'
import { type Paint, report } from './report.ts'
import { readSubject } from './subject.ts'

export const VERIFY_USAGE = `docreg verify <publicId | address | file | QR image | -> --rpc <url> [options]

  --rpc <url>            JSON-RPC endpoint of a node
  --registry <CAIP-10>   the registry that you trust, eip155:<chainId>:<address>; or eip155:<chainId> of a known deployment
  --ipfs <url>           trustless IPFS gateway that may have the document; repeatable, tried in order
  --timeout <seconds>    for one request; default 10
  --max-head-age <s>     a node whose newest block is older counts as stale; default 900, any age on chain 31337
  --json                 the verdict as JSON

Exit code: 0 valid, 1 not valid, 2 no verdict (could not check, or no publicId could be read), 64 wrong usage.
A publicId on the command line is seen by all users of the machine: give a file, or - for standard input.`

/** The chain id of local test chains, which make blocks only when somebody writes. */
const LOCAL_CHAIN = 31337

export type Terminal = { write(text: string): void; paint: Paint }

/** @returns The exit code: 0 valid, 1 not valid, 2 could not check. */
export async function verifyCommand(
  args: string[],
  terminal: Terminal,
): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      rpc: { type: 'string', multiple: true },
      registry: { type: 'string' },
      ipfs: { type: 'string', multiple: true },
      timeout: { type: 'string' },
      'max-head-age': { type: 'string' },
      json: { type: 'boolean' },
    },
  })
  const [given] = positionals
  if (given === undefined || positionals.length > 1)
    throw new UsageError('one publicId, address or file is required')
  const [rpc] = (values.rpc ?? []).map((url) => httpUrl('--rpc', url))
  if (rpc === undefined) throw new UsageError('--rpc is required')
  const ipfs = (values.ipfs ?? []).map((url) => httpUrl('--ipfs', url))
  const timeout = 1000 * wholeNumber('--timeout', values.timeout ?? '10')
  const registry = trustedRegistry(values.registry)
  const maxHeadAge =
    values['max-head-age'] === undefined
      ? defaultHeadAge(registry)
      : wholeNumber('--max-head-age', values['max-head-age'])

  const { publicId, registryHint } = await readSubject(given)
  decodePublicId(publicId)
  const verdict = await verify(publicId, {
    chain: createChainReader(createFetchProvider(rpc, timeout), registry),
    blocks: ipfs.map((url) => createIpfsGatewaySource(url, timeout)),
    ...(maxHeadAge !== undefined && { maxHeadAge }),
  })
  const warnings =
    registryHint === undefined || registryHint.toLowerCase() === registry
      ? []
      : [
          `the address or QR code names another registry, ${registryHint}. What was asked is the one that you trust, ${registry}`,
        ]
  terminal.write(
    values.json
      ? printableJson({ ...verdict, warnings })
      : report(verdict, warnings, terminal.paint),
  )
  return verdict.valid ? 0 : verdict.status === 'unverifiable' ? 2 : 1
}

function httpUrl(option: string, text: string): string {
  if (!/^https?:$/.test(URL.parse(text)?.protocol ?? ''))
    throw new UsageError(`${option} must be an http or https address`)
  return text
}

function wholeNumber(option: string, text: string): number {
  if (!/^[1-9][0-9]{0,8}$/.test(text))
    throw new UsageError(`${option} must be a whole number of seconds`)
  return Number(text)
}

function defaultHeadAge(registry: string): number | undefined {
  return parseRegistry(registry).chainId === LOCAL_CHAIN ? undefined : 900
}
