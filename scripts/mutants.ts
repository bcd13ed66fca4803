/**
 * Shows that every outcome of every condition of the registry is held by a test: each condition is negated, each check, event
 * and effect removed, each comparison moved by one, and the Solidity tests must fail. Prints the table; fails when a mutant
 * survives that is not explained below. `npm run mutants` takes an hour or more on two
 * busy cores. `--sample 20` tries 20 of them, spread evenly, `--lines 120-180` only those of these lines, `--file
 * types/PackedRecord.sol` those of another file than DocumentRegistry.sol.
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    sample: { type: 'string' },
    lines: { type: 'string', default: '1-999999' },
    file: { type: 'string', default: 'DocumentRegistry.sol' },
  },
})
const root = fileURLToPath(new URL('..', import.meta.url))
const registry = 'contracts/DocumentRegistry.sol'
const target = `contracts/${values.file}`
const workers = 2

/** Survivors that change nothing a caller could see, and why. */
const equivalent: Readonly<Record<string, string>> = {}

interface Node {
  readonly nodeType: string
  readonly src: string
  readonly [key: string]: unknown
}
interface Mutant {
  readonly line: number
  readonly kind: string
  readonly original: string
  readonly source: string
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'nodeType' in value && 'src' in value

function* walk(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const item of value) yield* walk(item)
  else if (isNode(value)) {
    yield value
    for (const child of Object.values(value)) yield* walk(child)
  }
}

function parse(): Node {
  const solc = createRequire(import.meta.url)('solc') as {
    compile(input: string, callbacks: { import(path: string): { contents: string } }): string
  }
  const read = (path: string): string =>
    readFileSync(join(root, path.startsWith('@') ? `node_modules/${path}` : path), 'utf8')
  const input = {
    language: 'Solidity',
    sources: { [target]: { content: read(target) } },
    settings: {
      stopAfter: 'parsing',
      outputSelection: { '*': { '': ['ast'] } },
    },
  }
  const output = JSON.parse(
    solc.compile(JSON.stringify(input), {
      import: (path) => ({ contents: read(path) }),
    }),
  ) as { sources: Record<string, { ast: Node }> }
  const ast = output.sources[target]?.ast
  if (ast === undefined) throw new Error('solc gave no syntax tree')
  return ast
}

function mutantsOf(code: Buffer, ast: Node): Mutant[] {
  const mutants: Mutant[] = []
  const range = (node: Node): [number, number] => {
    const [start, length] = node.src.split(':').map(Number) as [number, number]
    return [start, start + length]
  }
  const text = (node: Node): string => code.subarray(...range(node)).toString()
  const add = (kind: string, node: Node, replacement: string): void => {
    const [start, stop] = range(node)
    // The tree leaves out the semicolon of a statement.
    const end = replacement === '{}' ? code.indexOf(';', stop) + 1 : stop
    const source = Buffer.concat([
      code.subarray(0, start),
      Buffer.from(replacement),
      code.subarray(end),
    ])
    const line = code.subarray(0, start).toString().split('\n').length
    mutants.push({
      line,
      kind,
      original: text(node).replaceAll(/\s+/g, ' '),
      source: source.toString(),
    })
  }
  const negate = (node: unknown): void => {
    if (isNode(node)) add('negated', node, `!(${text(node)})`)
  }
  const steps = new Set<unknown>()
  const moved: Readonly<Record<string, string>> = {
    '<': '<=',
    '<=': '<',
    '>': '>=',
    '>=': '>',
  }
  for (const node of walk(ast)) {
    const { operator, leftExpression: left, rightExpression: right, condition } = node
    if (node.nodeType === 'ForStatement') steps.add(node.loopExpression)
    if (node.nodeType === 'IfStatement' && isNode(condition)) {
      negate(condition)
      add('check removed', condition, 'false')
    }
    if (node.nodeType === 'Conditional') negate(condition)
    if (node.nodeType === 'BinaryOperation' && isNode(left) && isNode(right)) {
      if (operator === '&&' || operator === '||') for (const side of [left, right]) negate(side)
      const other = moved[String(operator)]
      if (other !== undefined)
        add(`moved to ${other}`, node, `${text(left)} ${other} ${text(right)}`)
      if (operator === '==' || operator === '!=') {
        add('turned', node, `${text(left)} ${operator === '==' ? '!=' : '=='} ${text(right)}`)
      }
    }
    if (node.nodeType === 'ModifierInvocation' && text(node).startsWith('only'))
      add('check removed', node, '')
    if (node.nodeType === 'EmitStatement') add('event removed', node, '{}')
    if (node.nodeType === 'Continue') add('jump removed', node, '{}')
    if (node.nodeType === 'ExpressionStatement' && !steps.has(node))
      add('effect removed', node, '{}')
  }
  // `if (a == b)` negated and turned are one and the same.
  const seen = new Set<string>()
  return mutants.filter(({ source, line, original, kind }) => {
    const key = kind === 'turned' || kind === 'negated' ? `${line} ${original} not` : source
    return seen.has(key) ? false : seen.add(key)
  })
}

const workspace = (index: number): string => join(root, 'cache', 'mutants', String(index))

/** Copies of the project in which only the contract compiles, and without the slow intermediate form: its tests deploy the artifact and stay compiled. */
async function prepare(): Promise<void> {
  const directory = workspace(0)
  rmSync(join(directory, '..'), { recursive: true, force: true })
  mkdirSync(join(directory, 'test'), { recursive: true })
  for (const path of ['contracts', 'test/contracts', 'package.json']) {
    cpSync(join(root, path), join(directory, path), { recursive: true })
  }
  cpSync(join(root, 'hardhat.config.ts'), join(directory, 'project.config.ts'))
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  writeFileSync(
    join(directory, 'hardhat.config.ts'),
    `import project from './project.config.ts'
const { compilers, overrides } = project.solidity as any
const [{ settings, ...compiler }] = compilers
const plain = { ...compiler, settings: { evmVersion: settings.evmVersion, optimizer: { enabled: true, runs: 200 } } }
const { fuzz, invariant } = (project.test as any).solidity.profiles.default
export default {
  paths: project.paths,
  solidity: { compilers, overrides: { ...overrides, '${registry}': plain } },
  test: { solidity: { fuzz: { ...fuzz, runs: 32 }, invariant: { ...invariant, runs: 4 } } },
}
`,
  )
  const unharmed = await test(directory)
  if (unharmed !== undefined) throw new Error(`${unharmed} fails without any mutation`)
  for (let index = 1; index < workers; index++)
    cpSync(directory, workspace(index), { recursive: true })
}

/** The first test that failed, or the compiler; nothing when all passed. */
function test(directory: string): Promise<string | undefined> {
  const hardhat = join(root, 'node_modules/hardhat/dist/src/cli.js')
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [hardhat, 'test', 'solidity'],
      {
        cwd: directory,
        maxBuffer: 1 << 26,
        env: { ...process.env, NO_COLOR: '1' },
      },
      (error, stdout, stderr) => {
        if (error === null) return resolve(undefined)
        const name = /^ +\d+\) (\w+)#(\w+)/m.exec(stdout + stderr)
        if ((stdout + stderr).includes('HHE910')) return resolve('the compiler')
        if (name === null) return reject(new Error(stdout + stderr))
        resolve(`${name[1]}.${name[2]}`)
      },
    )
  })
}

const [from, to] = values.lines.split('-').map(Number) as [number, number]
const code = readFileSync(join(root, target))
const all = mutantsOf(code, parse()).filter(({ line }) => line >= from && line <= to)
const sample = Math.min(Number(values.sample ?? all.length), all.length)
const queue = Array.from(
  { length: sample },
  (_, index) => all[Math.floor((index * all.length) / sample)] as Mutant,
)
const total = queue.length
const results: { mutant: Mutant; by: string | undefined }[] = []

async function work(index: number): Promise<void> {
  const directory = workspace(index)
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    writeFileSync(join(directory, target), mutant.source)
    const by = await test(directory)
    results.push({ mutant, by })
    if (process.stderr.isTTY) process.stderr.write(`\r${results.length} of ${total}`)
  }
}
await prepare()
await Promise.all(Array.from({ length: workers }, (_, index) => work(index)))

const explained = ({ kind, original }: Mutant): string | undefined =>
  equivalent[`${kind}: ${original}`]
results.sort((a, b) => a.mutant.line - b.mutant.line)
for (const { mutant, by } of results) {
  const verdict =
    by ?? (explained(mutant) === undefined ? 'SURVIVED' : `equivalent: ${explained(mutant)}`)
  console.log(
    `${String(mutant.line).padStart(4)}  ${mutant.kind.padEnd(14)}  ${mutant.original.slice(0, 70).padEnd(70)}  ${verdict}`,
  )
}
const survivors = results.filter(
  ({ mutant, by }) => by === undefined && explained(mutant) === undefined,
)
const killed = results.filter(({ by }) => by !== undefined).length
console.log(
  `\n${total} of ${all.length} mutants: ${killed} killed, ${total - killed - survivors.length} equivalent, ${survivors.length} survived`,
)
if (survivors.length > 0) process.exitCode = 1
