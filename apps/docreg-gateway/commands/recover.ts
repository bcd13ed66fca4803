import { defineCommand } from '#cli/command.ts'
import { EXIT } from '#cli/exit-codes.ts'
import { counted, printableJson } from '#cli/printable.ts'
import { wholeNumber } from '#cli/sources.ts'

export const recoverCommand = defineCommand({
  name: 'recover',
  group: 'Repair',
  summary: 'Rebuild a lost gateway from the chain, IPFS and the issuer secret',
  about: [
    'Fills an empty DATA_DIR, or an empty database of PostgreSQL. It needs no account. To continue an interrupted run, start it again; until it is done, no gateway starts.',
  ],
  options: {
    tenant: { value: '<name>', about: 'the tenant of all recovered documents and batches' },
    out: {
      value: '<file>',
      about: 'the file for the publicIds; default recovered.csv in DATA_DIR',
    },
    from: { value: '<block>', about: 'the first block to search for events; default 0' },
  },
  examples: [
    ['Into an empty folder', 'DATA_DIR=recovered docreg-gateway recover --tenant default'],
  ],
  exitCodes: '0 all recovered, 1 some are missing, 2 could not be recovered',
  async run({ values }, { write, note }) {
    const from = wholeNumber('from', values.from ?? '0')
    const { recover } = await import('../recover.ts')
    const recovered = await recover({ ...values, from, say: note })
    const { out, isComplete, documents, opened, erased, missing, unopened, ...batches } = recovered
    if (values.json) write(printableJson(recovered))
    else {
      const count = counted(batches.batches, 'batch', 'batches')
      note(`recovered ${opened} of ${counted(documents, 'document')}, ${count}`)
      if (erased > 0) note(`erased    ${erased}`)
      if (missing > 0) note(`missing   ${missing}: no source has the payload, see ${out}`)
      if (unopened > 0) note(`unopened  ${unopened}: sealed with another secret, see ${out}`)
      if (batches.unread > 0)
        note(`unread    ${counted(batches.unread, 'batch', 'batches')}: no source has the manifest`)
      if (!isComplete)
        note(
          'INCOMPLETE: the registry counts more than its events show; use a node that has all events',
        )
      note(`publicIds are in ${out}: whoever has this file can open every document`)
    }
    const isWhole = missing + unopened + batches.unread === 0 && isComplete
    return isWhole ? EXIT.ok : EXIT.wrong
  },
})
