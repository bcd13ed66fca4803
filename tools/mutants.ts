/**
 * Shows that a test covers every outcome of every condition of the registry: each condition is
 * negated, each check, event and effect removed, each comparison and each number moved by one, and
 * the Solidity tests must fail. Prints a verdict on each mutant; fails when one survives that is
 * not explained below. A survivor has passed every test, with as many runs as `hardhat test
 * solidity` makes; the registry is compiled without optimizer and intermediate form.
 *
 * `--sample 20` tries 20 mutants, spread evenly; `--file types/PackedRecord.sol` those of one file;
 * `--lines 120-180` those of these lines; `--from 300` continues a stopped run at that number;
 * `--workers 1` tries one at a time instead of two.
 */
import { fork } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Mutant, mutantsOf } from './mutants/mutations.ts'
import { build } from './mutants/suite.ts'
import type { Request, Verdict } from './mutants/worker.ts'

const REFUSED = 'callers check revokedBlock first, and it is 0 in both'
const LONGER = 'every function that asks has arguments of more than 20 bytes'
/**
 * Survivors that change nothing visible to a caller, with the reason: `<function>: <kind>: <code>`.
 */
const EQUIVALENT: Readonly<Record<string, string>> = {
  '_revised: one more: 0 in ) return (PackedRecord.wrap(0), false);': REFUSED,
  '_revised: turned: false in ) return (PackedRecord.wrap(0), false);': REFUSED,
  '_revised: one more: 0 in return (PackedRecord.wrap(0), false);': REFUSED,
  '_revised: turned: false in return (PackedRecord.wrap(0), false);': REFUSED,
  '_isDepthOf: one more: 1 in return depth == Math.log2(size) || depth == Math.log2(2 * size - 1);':
    'only 2 * 1 - 1 is odd and a power of two, and Math.log2 is 0 for 0 and for 1',
  '_prevails: moved to >=: weight > weightOfOwn': 'the line is only for weights that differ',
  '_weight: one more: 2 in return record.isRevoked() ? 2 : _isSuspended(ns, record) ? 1 : 0;':
    'only the order of weights counts',
  'acceptUntil: moved to >=: from > type(uint40).max - ACCEPT_WINDOW':
    'at that time both give the greatest one',
  '_sender: moved to <=: msg.data.length < 20': LONGER,
  '_sender: one more: 20 in if (msg.sender != FORWARDER || msg.data.length < 20) return msg.sender;':
    LONGER,
}

const { values } = parseArgs({
  options: {
    sample: { type: 'string' },
    lines: { type: 'string', default: '1-999999' },
    file: { type: 'string', default: '{DocumentRegistry,types/*}.sol' },
    from: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
  },
})
const root = join(import.meta.dirname, '..')
const folder = join(root, 'cache/mutants')

function select(): { readonly mutants: Mutant[]; readonly total: number } {
  const [from, to] = values.lines.split('-').map(Number) as [number, number]
  const all = globSync(`contracts/${values.file}`, { cwd: root })
    .sort()
    .flatMap((file) => mutantsOf(file, readFileSync(join(root, file), 'utf8')))
    .filter(({ line }) => line >= from && line <= to)
  const count = Math.min(Number(values.sample ?? all.length), all.length)
  const mutants = Array.from(
    { length: count },
    (_, index) => all[Math.floor((index * all.length) / count)] as Mutant,
  )
  return { mutants, total: all.length }
}

function startWorker(index: number) {
  const worker = fork(
    join(import.meta.dirname, 'mutants/worker.ts'),
    [join(folder, 'built'), join(folder, String(index))],
    { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
  )
  const ask = (request: Request): Promise<Verdict> =>
    new Promise((resolve, reject) => {
      const fail = () => reject(new Error(`a worker ended at ${describe(request.mutant)}`))
      worker.once('exit', fail)
      worker.once('message', (verdict) => {
        worker.off('exit', fail)
        resolve(verdict as Verdict)
      })
      worker.send(request)
    })
  return { ask, stop: () => worker.disconnect() }
}

const describe = (mutant: Mutant | undefined): string =>
  mutant === undefined
    ? 'the check'
    : `${mutant.file.replace('contracts/', '')}:${mutant.line}  ${mutant.within}: ${mutant.kind}: ${mutant.original}`

const reason = ({ within, kind, original }: Mutant): string | undefined =>
  EQUIVALENT[`${within}: ${kind}: ${original}`]

async function main(): Promise<void> {
  const start = Date.now()
  const { mutants, total } = select()
  await build(join(folder, 'built'))
  const workers = Array.from({ length: Number(values.workers) }, (_, index) => startWorker(index))
  await workers[0]?.ask({})

  const counts = { killed: 0, equivalent: 0, 'does not compile': 0, survived: 0 }
  const minutes = (): string => `${((Date.now() - start) / 60_000).toFixed(1)} min`
  const before = Number(values.from) - 1
  const queue = mutants.slice(before).entries()
  await Promise.all(
    workers.map(async ({ ask, stop }) => {
      for (const [index, mutant] of queue) {
        const why = reason(mutant)
        const verdict = await ask({ mutant, isQuick: why !== undefined })
        const kind = verdict.kind === 'survived' && why ? 'equivalent' : verdict.kind
        counts[kind]++
        const detail =
          verdict.kind === 'killed' ? `by ${verdict.by}` : kind === 'equivalent' ? why : ''
        const number = `${before + index + 1}/${mutants.length}`.padEnd(7)
        console.log(`${number} ${kind.padEnd(16)}  ${describe(mutant)}  ${detail}`)
      }
      stop()
    }),
  )
  const list = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`)
  console.log(
    `\n${mutants.length - before} of ${total} mutants in ${minutes()}: ${list.join(', ')}`,
  )
  if (counts.survived > 0) process.exitCode = 1
}

await main()
