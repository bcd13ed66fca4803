// node docreg-host.ts docreg|docreg-gateway
//
// Runs the program once for each message, in one process. Loading its modules takes most of the
// processor time of a short command.
import type { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { runProgram } from '#cli/main.ts'
import type { Answer, Call } from './docreg.ts'

const { stdout, stderr, argv } = process
const isDocreg = argv[2] === 'docreg'
const program = isDocreg
  ? (await import('#cli/commands.ts')).DOCREG
  : (await import('#operate/program.ts')).GATEWAY
// As apps/docreg-gateway/docreg-gateway.ts.
if (!isDocreg) process.umask(0o077)
let printed = { stdout: '', stderr: '' }
const catchInto = (name: 'stdout' | 'stderr'): typeof stdout.write => {
  const decoder = new TextDecoder()
  return (chunk, encoding, callback?: () => void) => {
    printed[name] += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
    const done = typeof encoding === 'function' ? encoding : callback
    if (done) process.nextTick(done)
    return true
  }
}
stdout.write = catchInto('stdout')
stderr.write = catchInto('stderr')
const tell = (code: number, isLast = false) =>
  process.send?.({ run: { code, ...printed }, isLast } satisfies Answer)
const tellAtEnd = (code: number) => tell(code, true)

process.on('message', async ({ args, stdin, env, cwd }: Call) => {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  Object.assign(process.env, env)
  process.chdir(cwd)
  printed = { stdout: '', stderr: '' }
  process.argv = [...argv.slice(0, 2), ...args]
  Object.defineProperty(process, 'stdin', {
    value: Readable.from(stdin.length > 0 ? [Buffer.from(stdin)] : []),
    configurable: true,
  })
  const forget = rememberListeners([process, 'uncaughtException'], [stdout, 'error'])
  process.on('exit', tellAtEnd)
  const code = await runProgram(program)
  process.off('exit', tellAtEnd)
  forget()
  tell(code)
})
process.on('disconnect', () => process.exit())

/** @returns A function that removes the listeners which have been added since. */
function rememberListeners(...all: [EventEmitter, string][]): () => void {
  const before = new Set(all.flatMap(([emitter, name]) => emitter.listeners(name)))
  return () => {
    for (const [emitter, name] of all)
      for (const listener of emitter.listeners(name))
        if (!before.has(listener)) emitter.off(name, listener as () => void)
  }
}
