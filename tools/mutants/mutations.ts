/**
 * The mutants of a Solidity file: one small change each, at the places that its syntax tree names.
 */
import { compile } from './compile.ts'

export interface Mutant {
  readonly file: string
  readonly line: number
  readonly within: string
  readonly kind: string
  /** The original code; for a number or boolean, with its line. */
  readonly original: string
  readonly source: string
}

interface Node {
  readonly nodeType: string
  readonly src: string
  readonly [key: string]: unknown
}

const MOVED: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'nodeType' in value && 'src' in value

/** Yields every node below this one, with the name of its function or modifier. */
function* walk(value: unknown, within = ''): Generator<[Node, string]> {
  if (Array.isArray(value)) for (const item of value) yield* walk(item, within)
  else if (isNode(value)) {
    yield [value, within]
    const inner =
      value.nodeType === 'FunctionDefinition' ? String(value.name || value.kind) : within
    for (const child of Object.values(value)) yield* walk(child, inner)
  }
}

function parse(file: string, content: string): Node {
  const { sources } = compile(
    file,
    { [file]: content },
    {
      stopAfter: 'parsing',
      outputSelection: { '*': { '': ['ast'] } },
    },
  )
  const ast = sources?.[file]?.ast
  if (!isNode(ast)) throw new Error('solc returned no syntax tree')
  return ast
}

export function mutantsOf(file: string, content: string): Mutant[] {
  // Positions in the tree count bytes.
  const code = Buffer.from(content)
  const lines = content.split('\n')
  const mutants: Mutant[] = []
  const steps = new Set<unknown>()
  const range = (node: Node): [number, number] => {
    const [start, length] = node.src.split(':').map(Number) as [number, number]
    return [start, start + length]
  }
  const text = (node: Node): string => code.subarray(...range(node)).toString()
  for (const [node, within] of walk(parse(file, content))) {
    const add = (kind: string, target: unknown, replacement: string, isPart = false): void => {
      if (!isNode(target)) return
      const [start, stop] = range(target)
      // The tree omits the semicolon of a statement.
      const end = replacement === '{}' ? code.indexOf(';', stop) + 1 : stop
      const line = code.subarray(0, start).toString().split('\n').length
      const original = text(target).replaceAll(/\s+/g, ' ')
      mutants.push({
        file,
        line,
        within,
        kind,
        original: isPart ? `${original} in ${lines[line - 1]?.trim()}` : original,
        source: `${code.subarray(0, start)}${replacement}${code.subarray(end)}`,
      })
    }
    const negate = (target: unknown): void => {
      if (isNode(target)) add('negated', target, `!(${text(target)})`)
    }
    const { operator, leftExpression: left, rightExpression: right } = node
    if (node.nodeType === 'IfStatement') {
      negate(node.condition)
      add('check removed', node.condition, 'false')
    }
    if (node.nodeType === 'Conditional') negate(node.condition)
    if (node.nodeType === 'BinaryOperation' && isNode(left) && isNode(right)) {
      const [a, b] = [text(left), text(right)]
      if (operator === '&&' || operator === '||') for (const side of [left, right]) negate(side)
      const moved = MOVED[String(operator)]
      if (moved !== undefined) add(`moved to ${moved}`, node, `${a} ${moved} ${b}`)
      if (operator === '==') add('turned', node, `${a} != ${b}`)
      if (operator === '!=') add('turned', node, `${a} == ${b}`)
    }
    if (node.nodeType === 'ModifierInvocation' && text(node).startsWith('only'))
      add('check removed', node, '')
    if (node.nodeType === 'EmitStatement') add('event removed', node, '{}')
    if (node.nodeType === 'Continue') add('jump removed', node, '{}')
    // Without its step, a loop would never end.
    if (node.nodeType === 'ForStatement') steps.add(node.loopExpression)
    if (node.nodeType === 'ExpressionStatement' && !steps.has(node))
      add('effect removed', node, '{}')
    if (node.nodeType === 'Literal' && node.kind === 'number')
      add('one more', node, `(${text(node)} + 1)`, true)
    if (node.nodeType === 'Literal' && node.kind === 'bool')
      add('turned', node, node.value === 'true' ? 'false' : 'true', true)
  }
  // Negating `if (a == b)` and replacing its operator give the same code.
  const seen = new Set<string>()
  return mutants.filter(({ source, line, original, kind }) => {
    const key = kind === 'turned' || kind === 'negated' ? `${line} ${original} not` : source
    return seen.has(key) ? false : seen.add(key)
  })
}
