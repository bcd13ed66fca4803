import fc from 'fast-check'

/** Names that every object inherits, or that programs may misread. */
const ODD_NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'toJSON',
  'then',
  'length',
  'hasOwnProperty',
  'get',
  '0',
  '-1',
  '',
]

const name = fc.oneof(fc.constantFrom(...ODD_NAMES), fc.string({ unit: 'binary', maxLength: 8 }))

const scalar = fc.oneof(
  fc.constantFrom(null, true, false, 0, -0, 1, -1, '', '7', '0x', '0x0'),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.string({ unit: 'binary', maxLength: 20 }),
)

/** Any value that JSON.parse can return, including own members `__proto__` and lone surrogates. */
export const jsonValue: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .array(fc.tuple(name, tie('value')), { maxLength: 4 })
      .map((members) => Object.fromEntries(members)),
  ),
})).value

/** An object with members replaced, removed or added at any depth. */
export function mutated(value: unknown): fc.Arbitrary<unknown> {
  const paths = pathsOf(value)
  return fc
    .array(
      fc.tuple(
        fc.constantFrom(...paths),
        fc.oneof(
          fc.constant({ remove: true as const }),
          fc.record({ put: jsonValue }),
          fc.record({ put: jsonValue, at: name }),
        ),
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map((changes) => {
      const holder = { root: structuredClone(value) }
      for (const [path, change] of changes) apply(holder, path, change)
      return holder.root
    })
}

type Change = { remove: true } | { put: unknown; at?: string }

function apply(holder: object, path: readonly string[], change: Change): void {
  const [last = '', ...before] = path.toReversed()
  let parent: unknown = holder
  for (const step of before.toReversed())
    parent = (parent as Record<string, unknown> | null)?.[step]
  // An earlier change may have removed the target of this one.
  if (typeof parent !== 'object' || parent === null) return
  if ('remove' in change) {
    Reflect.deleteProperty(parent, last)
    return
  }
  const target = change.at === undefined ? parent : (parent as Record<string, unknown>)[last]
  if (typeof target !== 'object' || target === null) return
  if (Array.isArray(target) && change.at !== undefined) {
    target.push(change.put)
    return
  }
  Object.defineProperty(target, change.at ?? last, {
    value: change.put,
    configurable: true,
    enumerable: true,
    writable: true,
  })
}

function pathsOf(value: unknown, path: string[] = ['root']): string[][] {
  const inner =
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, item]) => pathsOf(item, [...path, key]))
      : []
  return [path, ...inner]
}

/** Bytes with some flipped, removed, duplicated or added. */
export function mangled(bytes: Uint8Array): fc.Arbitrary<Uint8Array> {
  const at = fc.nat(bytes.length)
  const change = fc.oneof(
    fc.record({ at, flip: fc.integer({ min: 1, max: 255 }) }),
    fc.record({ at, cut: fc.nat(40) }),
    fc.record({ at, repeat: fc.nat(40) }),
    fc.record({ at, insert: fc.uint8Array({ maxLength: 8 }) }),
  )
  return fc
    .array(change, { minLength: 1, maxLength: 3 })
    .map((changes) => changes.reduce(mangle, bytes))
}

type ByteChange = {
  at: number
  flip?: number
  cut?: number
  repeat?: number
  insert?: Uint8Array
}

function mangle(bytes: Uint8Array, change: ByteChange): Uint8Array {
  const { at, flip, cut = 0, repeat = 0, insert = new Uint8Array() } = change
  const after = bytes.slice(at + cut)
  if (flip !== undefined && after.length > 0) after[0] = (after[0] ?? 0) ^ flip
  return Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at, at + repeat), after])
}
