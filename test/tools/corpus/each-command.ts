// Runs the packed `docreg` once for each line of standard input, in one process, since its start
// takes longer than most cases.
//
//   node each-command.ts docreg.js
//
// A line is JSON, a `Call`; the answer to each is a line of JSON, a `Run`.
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import type { Run } from '../../support/docreg.ts'

export type Call = {
  args: string[]
  stdin: string
  /** The address at which the document of a domain is served instead of its own. */
  domain: { address: string | null; served: string } | undefined
}

const [node = '', , program = ''] = process.argv
const write = process.stdout.write.bind(process.stdout)
const platformFetch = globalThis.fetch
let calls = 0

// Each run adds a listener.
process.setMaxListeners(0)
process.stdout.setMaxListeners(0)
for await (const line of createInterface(process.stdin)) {
  const run = await runOnce(JSON.parse(line))
  write(`${JSON.stringify(run)}\n`)
}

async function runOnce({ args, stdin, domain }: Call): Promise<Run> {
  const run: Run = { code: null, stdout: '', stderr: '' }
  process.argv = [node, program, ...args]
  process.exitCode = undefined
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(stdin)]) })
  globalThis.fetch = (url, init) =>
    platformFetch(domain && String(url) === domain.address ? domain.served : url, init)
  process.stdout.write = (text) => {
    run.stdout += text
    return true
  }
  process.stderr.write = (text) => {
    run.stderr += text
    return true
  }
  // Another query makes another module, so the program runs again.
  await import(`${pathToFileURL(program).href}?${++calls}`)
  run.code = Number(process.exitCode ?? 0)
  return run
}
