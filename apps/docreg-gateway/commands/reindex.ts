import { defineCommand } from '#cli/command.ts'
import { EXIT } from '#cli/exit-codes.ts'
import { printableJson } from '#cli/printable.ts'

export const reindexCommand = defineCommand({
  name: 'reindex',
  group: 'Repair',
  summary: 'Rebuild the index of documents from the history, the chain and the payloads',
  about: [
    'No gateway may run with the data folder. Gateways on PostgreSQL may; their lists can lack documents until it is done.',
  ],
  options: {
    tenant: {
      value: '<name>',
      about: 'the tenant for documents and batches whose tenant is unknown',
    },
  },
  examples: [['Rebuild it', 'docreg-gateway reindex']],
  exitCodes: '0 rebuilt, 2 could not be rebuilt',
  async run({ values: { tenant, json } }, { write, note }) {
    const { reindex } = await import('../reindex.ts')
    const done = await reindex(tenant, note)
    const { owned, anchored, pending, inBatches } = done
    if (json) write(printableJson(done))
    else {
      if (owned > 0) note(`batches   ${owned} of an unknown tenant now belong to ${tenant}`)
      note(`indexed   ${anchored} anchored documents, ${pending} pending`)
      if (inBatches > 0) note(`          ${inBatches} documents of batches that the index lacked`)
    }
    return EXIT.ok
  },
})
