import { defineCommand } from '#cli/command.ts'
import { EXIT } from '#cli/exit-codes.ts'
import { printableJson } from '#cli/printable.ts'
import { wholeNumber } from '#cli/sources.ts'
import type { Difference } from '../fsck/compare.ts'

export const fsckCommand = defineCommand({
  name: 'fsck',
  group: 'Repair',
  summary: 'Compare the chain, the payloads and the database of a gateway',
  about: [
    'Takes the settings of the gateway. It changes nothing, and may run beside the gateway.',
    'A gateway whose database has lost writes issues nothing. If nothing differs, it issues again from its next start.',
  ],
  options: { from: { value: '<block>', about: 'the first block to search for events; default 0' } },
  examples: [['Compare everything', 'docreg-gateway fsck']],
  exitCodes: '0 nothing differs, 1 something differs, 2 could not be compared',
  async run({ values }, { write }) {
    const from = wholeNumber('from', values.from ?? '0')
    const { fsck } = await import('../fsck.ts')
    const { DIFFERENCES } = await import('../fsck/compare.ts')
    const differences: { code: Difference; about: string }[] = []
    const counts = await fsck(from, (code, about) => {
      differences.push({ code, about })
      if (!values.json) write(`${code.padEnd(22)}  ${about}`)
    })
    const { length } = differences
    if (values.json) write(printableJson({ ...counts, differences }))
    else {
      write(
        `compared ${counts.documents} documents, ${counts.batches} batches; ${counts.erased} are erased`,
      )
      for (const code of new Set(differences.map((one) => one.code)))
        write(`${code}: ${DIFFERENCES[code]}`)
      write(length === 0 ? 'nothing differs' : `${length} differences`)
      if (counts.lostWrites === 'accepted')
        write('the database had lost writes: start the gateway again, and it issues')
      if (counts.lostWrites === 'not_accepted')
        write(
          'the database has lost writes: repair what differs and compare again, or start the gateway once with ACCEPT_LOST_WRITES=true',
        )
    }
    return length === 0 ? EXIT.ok : EXIT.wrong
  },
})
