// Writes served.json of each case, or of the named ones. case.schema.json has the form.
import { writeFileSync } from 'node:fs'
import { formatServed, recordCases, servedFile } from '#test/support/corpus/served.ts'

const names = process.argv.slice(2)
let count = 0
for await (const served of recordCases(names.length > 0 ? names : undefined)) {
  writeFileSync(servedFile({ name: served.case }), formatServed(served))
  count++
}
process.stdout.write(`${count} cases recorded\n`)
