// Writes rows of these sizes to a database, each in turn, until it is killed. Says first whether writes were lost, and then the number
// of each row that is on the disk.
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { all, statement } from '#store/sql.ts'

const ADD = statement(
  'INSERT INTO payload (hash, bytes) VALUES (:hash, :bytes) ON CONFLICT DO NOTHING',
)

const [, , path = '', first = '', ...sizes] = process.argv
const database = openSqlite(path)
process.stdout.write(`${database.mark.isBehind}\n`)

let next = Number(first)
async function write(size: number): Promise<never> {
  for (;;) {
    const row = next++
    const hash = Buffer.alloc(32)
    hash.writeUInt32BE(row)
    await database.write(() => all(ADD, { hash, bytes: Buffer.alloc(size, row) }), row % 5 === 0)
    process.stdout.write(`${row}\n`)
  }
}
for (const size of sizes) void write(Number(size))
