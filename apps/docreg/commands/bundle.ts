import { createBundle } from '#verifier/bundle.ts'
import { TEST_NETWORK } from '#verifier/network.ts'
import { type CommandInput, defineCommand, type Options } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { writePrivately } from '../private-file.ts'
import { firstAnswering, readSources, SOURCE_OPTIONS } from '../sources.ts'
import { readSubject } from '../subject.ts'
import type { Terminal } from '../terminal.ts'

const OPTIONS = {
  ...SOURCE_OPTIONS,
  out: { value: '<file>', about: 'where to write it; default standard output' },
} as const satisfies Options

export const bundleCommand = defineCommand({
  name: 'bundle',
  group: 'Verify',
  summary: 'Write one file that proves offline what the registry said at one block',
  about: ['The file contains the document and its key. The node must support eth_getProof.'],
  args: [
    { name: '<document>', about: 'a file (publicId, QR code as PNG or JPEG), an address, or -' },
  ],
  options: OPTIONS,
  examples: [
    ['A bundle of a document', 'docreg bundle letter.jpg --out bundle.json'],
    [
      'From a publicId on standard input',
      'echo "$publicId" | docreg bundle - --rpc https://rpc.example --ipfs https://ipfs.example > bundle.json',
    ],
  ],
  exitCodes: '0 written, 2 could not be written',
  run: writeBundle,
})

async function writeBundle(
  { values, args: [given = ''] }: CommandInput<typeof OPTIONS>,
  terminal: Terminal,
): Promise<number> {
  const { registry, network, nodes, blocks, asOf } = readSources(values)
  const provider = firstAnswering(nodes)

  const { publicId } = await readSubject(given)
  const bundle = await createBundle(publicId, {
    provider,
    registry,
    blocks,
    ...(asOf !== undefined && { block: asOf }),
  })
  if (network === 'test') terminal.warn(TEST_NETWORK)
  if (bundle.sealed === null)
    terminal.warn('the bundle lacks the sealed document: it was never issued, or no --ipfs has it')
  const text = JSON.stringify(bundle)
  if (values.out === undefined) terminal.write(text)
  else await writePrivately(values.out, `${text}\n`)
  return EXIT.ok
}
