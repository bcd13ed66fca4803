// One measurement of issuing by a checkout of this project, for `tools/bench/before.ts`.
//
//   node tools/bench/before/measure.ts '{"checkout", "documents", "seconds", "connections"}'
//
// It prints a `Row` as JSON. The checkout measures itself, with its own program.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Limits, measureIssue } from '../measure.ts'

export type MeasureOptions = Limits & { checkout: string; connections: number }

/** The path of the program, and its path before tools/ was a folder. */
const PLACES = ['tools/bench/measure.ts', 'bench/measure.ts', 'scripts/bench/measure.ts']

const { checkout, connections, ...limits }: MeasureOptions = JSON.parse(process.argv[2] ?? '{}')
const program = PLACES.map((place) => join(resolve(checkout), place)).find(existsSync)
if (program === undefined) throw new Error(`${checkout} is not a checkout of this project`)
const its: { measureIssue: typeof measureIssue } = await import(pathToFileURL(program).href)
console.log(JSON.stringify(await its.measureIssue(limits, { connections, blockTime: 0 })))
