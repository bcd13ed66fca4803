// `node test/corpus/world.ts`: sets up the corpus and serves it, for programs that check it from outside. README.md has the form.
import { startWorld } from '../support/corpus/world.ts'

const world = await startWorld()
const { cases, chainUrl } = world
const stop = () => world.stop().then(() => process.exit())
// Who started it may be gone already.
process.stdout.once('error', stop)
process.stdout.write(`${JSON.stringify({ chainUrl, cases })}\n`)
process.once('SIGTERM', stop).once('SIGINT', stop)
// Whoever started it holds its standard input open.
process.stdin.once('end', stop).resume()
