import { type CallMany, type Changed, changeMany, type Result } from './change-many.ts'
import { InputError } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import type { Gateway } from './gateway.ts'
import { refusalOf } from './outcome.ts'
import { inParallel } from './parallel.ts'
import { printable, printableJson } from './printable.ts'
import { listenForStop } from './stop.ts'
import type { Target } from './targets.ts'
import type { Terminal } from './terminal.ts'

export type Change = {
  /** The beginning of the line for each document, such as `Revoked`. */
  done: string
  call(gateway: Gateway, target: Target): Promise<Changed>
  /** Changes a list in one request, if the gateway can. */
  many?: CallMany
}

const MAX_AT_A_TIME = 32

/**
 * Changes documents, and a list with requests for many if possible. Repeating a change is harmless,
 * so a stopped run can be run again.
 *
 * @returns The exit code: 0 = all are changed, 1 = some were refused.
 * @throws {InputError} `interrupted`
 */
export async function changeAll(
  targets: readonly Target[],
  { done, call, many }: Change,
  { gateway, json, terminal }: { gateway: Gateway; json: boolean | undefined; terminal: Terminal },
): Promise<number> {
  const results: Result[] = []
  const stopping = new AbortController()
  const { isStopped, end } = listenForStop(() => {
    terminal.note('Stopping …')
    stopping.abort()
  })
  const progress = terminal.progress(done, targets.length)
  const changed = (result: Result) => {
    results.push(result)
    progress.update(results.length)
  }
  const work = async (target: Target) => {
    const at = target.line === undefined ? {} : { line: target.line }
    await call(gateway, target).then(
      (data) => changed({ ...at, changed: data }),
      (error) => changed({ ...at, problem: refusalOf(error) }),
    )
  }
  try {
    const { client } = gateway
    if (many && targets.length > 1)
      await changeMany(targets, many, { client, signal: stopping.signal, changed })
    else await inParallel(targets, MAX_AT_A_TIME, work, isStopped)
  } finally {
    progress.end()
    end()
  }
  results.sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
  const refused = results.filter(({ problem }) => problem !== undefined)
  if (json)
    terminal.write(
      printableJson(results.map(({ line, changed, problem }) => ({ line, ...changed, problem }))),
    )
  else {
    const all = results.flatMap((result) => result.changed ?? [])
    if (all.length > 1) terminal.write(`${done}: ${all.length} documents`)
    else for (const one of all) terminal.write(lineOf(done, one))
    const pending = all.filter(({ status }) => status === 'pending').length
    if (pending > 0 && all.length > 1)
      terminal.write(`${pending} of them are promised but not in a block yet.`)
    for (const { line, problem } of refused)
      terminal.write(
        terminal.paint(
          'red',
          `${line === undefined ? '' : `line ${line}: `}${printable(problem ?? '')}`,
        ),
      )
  }
  if (isStopped())
    throw new InputError(
      'interrupted',
      'stopped: run the same command again to do the rest; repeating is harmless',
    )
  return refused.length === 0 ? EXIT.ok : EXIT.wrong
}

function lineOf(done: string, { status, reason, documentHash, ...more }: Changed): string {
  const time = more.revokedAt ?? more.suspendedAt ?? more.releasedAt ?? more.erasedAt
  const promised =
    status === 'pending' ? 'promised; it will be in a block soon' : `status ${status}`
  const parts = [promised, ...(reason ? [`reason ${reason}`] : []), ...(time ? [String(time)] : [])]
  if (Array.isArray(more.remains)) parts.push(`copies may be left in ${more.remains.join(', ')}`)
  return `${done}: ${parts.join(', ')}\n  document ${documentHash}`
}
