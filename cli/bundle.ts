import { parseArgs } from 'node:util'
import { createBundle } from '../verifier/bundle.ts'
import { networkOf } from '../verifier/network.ts'
import { parseRegistry } from '../verifier/readers/chain.ts'
import { EXIT } from './exit-codes.ts'
import { writePrivately } from './private-file.ts'
import { TEST_NETWORK } from './report.ts'
import { onlyArgument, onlyNode, readSources, SOURCE_OPTIONS, SOURCE_USAGE } from './sources.ts'
import { readSubject } from './subject.ts'
import type { Terminal } from './terminal.ts'

export const BUNDLE_USAGE = `docreg bundle <publicId | address | file | QR image | -> --rpc <url> --ipfs <url> [options]

  --rpc <url>            JSON-RPC endpoint of a node that knows eth_getProof
${SOURCE_USAGE}
  --out <file>           where to write it; default standard output

Writes one JSON file that proves offline what the registry said at one block. It holds the document and its key.
Exit code: 0 written, 2 could not, 64 wrong usage.`

/** @returns The exit code. */
export async function bundleCommand(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      ...SOURCE_OPTIONS,
      out: { type: 'string' },
      json: { type: 'boolean' },
    },
  })
  const { registry, nodes, blocks, asOf } = readSources(values)
  const given = onlyArgument(positionals, 'publicId, address or file')
  const provider = onlyNode(nodes)

  const { publicId } = await readSubject(given)
  const bundle = await createBundle(publicId, {
    provider,
    registry,
    blocks,
    ...(asOf !== undefined && { block: asOf }),
  })
  if (networkOf(parseRegistry(registry).chainId) === 'test') terminal.warn(TEST_NETWORK)
  if (bundle.sealed === null)
    terminal.warn('the sealed document is not in it: it was never issued, or no --ipfs has it')
  const text = JSON.stringify(bundle)
  if (values.out === undefined) terminal.write(text)
  else await writePrivately(values.out, `${text}\n`)
  return EXIT.ok
}
