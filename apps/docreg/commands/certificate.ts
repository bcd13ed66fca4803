import { join } from 'node:path'
import { TEST_NETWORK } from '#verifier/network.ts'
import { type Bundles, bundlesOfGateway, bundlesOfSources } from '../certificates/bundles.ts'
import { asUsage, openPrinting, type Printed, printAll } from '../certificates/printing.ts'
import { readPrintedRows } from '../certificates/rows.ts'
import { type CommandInput, defineCommand, type Options } from '../command.ts'
import { ENCODING_OPTION } from '../csv.ts'
import { InputError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'
import { connect, GATEWAY_OPTIONS, PATIENT_ATTEMPTS } from '../gateway.ts'
import { printableJson } from '../printable.ts'
import { readSources, SOURCE_OPTIONS } from '../sources.ts'
import { listenForStop } from '../stop.ts'
import type { Terminal } from '../terminal.ts'

const OPTIONS = {
  ...SOURCE_OPTIONS,
  ...GATEWAY_OPTIONS,
  gateway: {
    ...GATEWAY_OPTIONS.gateway,
    about: 'read the documents from your service instead of from chain and IPFS',
  },
  from: {
    value: '<file>',
    about:
      'many: a CSV file with a column publicId, such as issued.csv, or - for standard input; or a folder of "docreg issue" or of bundles',
  },
  encoding: ENCODING_OPTION,
  template: {
    value: '<name>',
    about: 'diploma, permit or letter, or the folder of your own template; default letter',
    isSetting: true,
  },
  'new-template': {
    value: '<folder>',
    about: 'copy the template to this folder, for you to change',
  },
  'verify-url': {
    value: '<url>',
    about: 'the verify page that the QR code leads to; default the column verifyUrl',
    isSetting: true,
  },
  fonts: { value: '<folder>', multiple: true, about: 'a folder with your own fonts (TTF, OTF)' },
  out: { value: '<folder>', about: 'where to write the PDFs; default certificates/' },
} as const satisfies Options

type Input = CommandInput<typeof OPTIONS>

export const certificateCommand = defineCommand({
  name: 'certificate',
  group: 'Issue',
  summary: 'Print documents as PDF/A-3 from a template, with the bundle attached',
  about: [
    'Each PDF holds the document and its key: it is as secret as the document. Only valid documents are printed. An interrupted run can be resumed: existing certificates are kept.',
    'The first run installs the PDF engine and its fonts with npm, in the cache of this user.',
  ],
  args: [
    {
      name: '[document]',
      about: 'a file (publicId, QR code as PNG or JPEG, bundle), an address, or -',
    },
  ],
  options: OPTIONS,
  examples: [
    [
      'One certificate',
      'docreg certificate letter.jpg --verify-url https://registry.example/verify',
    ],
    [
      'All documents of a run of docreg issue',
      'docreg certificate --from issued/ --template diploma --out diplomas',
    ],
    [
      'All permits of your service',
      'docreg documents --category permit --status valid --csv | docreg certificate --from - --template permit --gateway https://documents.example',
    ],
    ['A template to change', 'docreg certificate --template diploma --new-template our-diploma'],
  ],
  exitCodes: '0 all written, 2 some could not be written, 65 wrong input',
  run,
})

async function run({ args, values, flags }: Input, terminal: Terminal): Promise<number> {
  const template = values.template ?? 'letter'
  const copy = values['new-template']
  if (copy !== undefined) {
    const { copyTemplate } = await import('#certificates/template.ts')
    asUsage(() => copyTemplate(template, copy))
    terminal.write(`${join(copy, 'settings.json')} has the texts, template.typ the layout`)
    return EXIT.ok
  }
  const bundles = bundlesOf(values, flags)
  const rows = await readPrintedRows(args[0], values.from, values['verify-url'], values.encoding)
  const folder = values.out ?? 'certificates'
  const printing = await openPrinting(template, values.fonts ?? [], terminal)
  const { isStopped, end } = listenForStop(() =>
    terminal.note('Stopping after the certificates under way; Ctrl-C again stops at once'),
  )
  if (bundles.trusted?.network === 'test') terminal.warn(TEST_NETWORK)
  try {
    const printed = await printAll(rows, { printing, folder, bundles, terminal, isStopped })
    tell(printed, folder, values, terminal)
    if (isStopped())
      throw new InputError('interrupted', 'stopped: run the same command again to go on')
    return printed.failures.length === 0 ? EXIT.ok : EXIT.failed
  } finally {
    end()
    printing.pool.close()
  }
}

/**
 * The gateway is used only if it is named on the command line, because a configured one may be
 * meant for other commands.
 */
function bundlesOf(values: Input['values'], flags: Input['flags']): Bundles {
  if (flags.gateway !== undefined) return bundlesOfGateway(connect(values, PATIENT_ATTEMPTS))
  return bundlesOfSources(readSources(values))
}

function tell(
  { written, left, failures }: Printed,
  folder: string,
  { json }: Input['values'],
  terminal: Terminal,
): void {
  if (json) {
    terminal.write(printableJson({ written, left, failures }))
    return
  }
  for (const { line, message } of failures)
    terminal.warn(line === undefined ? message : `line ${line}: ${message}`)
  terminal.write(
    `${written} written to ${folder}, ${left} already there, ${failures.length} failed`,
  )
}
