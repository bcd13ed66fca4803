// Sets up the corpus and serves it, for programs that check it from outside: `node
// tools/corpus/world.ts`. case.schema.json has the form.
import { startWorld } from '#test/support/corpus/world.ts'

const starting = startWorld()
// This also applies during the set-up, so that no chain keeps running.
const stop = async () => {
  await starting.then(
    (world) => world.stop(),
    () => {},
  )
  process.exit()
}
process.once('SIGTERM', stop).once('SIGINT', stop)
// The parent process holds its standard input open.
process.stdin.once('end', stop).resume()
// The parent process may have ended already.
process.stdout.once('error', stop)
const { cases, chainUrl } = await starting
process.stdout.write(`${JSON.stringify({ chainUrl, cases })}\n`)
