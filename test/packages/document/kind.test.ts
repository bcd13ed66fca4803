import { describe, expect, test } from 'vitest'
import { fromCanonical } from '#document/canonical.ts'
import { parseStrictJson } from '#document/json.ts'
import { encodeKind, type Kind, readKind, wordsIn } from '#document/kind.ts'
import { kindProblems } from '#document/kind-check.ts'
import { readNewDocument } from '#document/new-document.ts'

const DIPLOMA = {
  display: [
    { locale: 'en', name: 'Diploma', description: 'Of a course of study' },
    { locale: 'de', name: 'Studienabschluss' },
  ],
  claims: [
    { path: ['subjectName'], display: [{ locale: 'en', label: 'Graduate' }] },
    { path: ['expiresAt'], mandatory: true },
    {
      path: ['metadata', 'degree'],
      display: [{ locale: 'de', label: 'Abschluss' }],
      mandatory: true,
      document_registry: { type: 'choice', choices: ['Bachelor', 'Master'] },
    },
    { path: ['metadata', 'born'], document_registry: { type: 'date' } },
    { path: ['metadata', 'grade'], document_registry: { type: 'number' } },
    { path: ['metadata', 'a.b'] },
  ],
  document_registry: { category: 'diploma', template: 'diploma' },
}

function kindOf(value: object): Kind {
  const read = readKind(value, 'diploma')
  if ('kind' in read) return read.kind
  throw new Error(JSON.stringify(read.problems))
}

const problemsIn = (value: unknown) => {
  const read = readKind(value, 'diploma')
  return 'problems' in read ? read.problems.map(({ field }) => field) : []
}
const withClaim = (claim: object) => ({ ...DIPLOMA, claims: [claim] })
const named = (name: unknown) => ({ ...DIPLOMA, display: [{ locale: 'en', name }] })

describe('the file of a kind', () => {
  test('reads the file that it wrote, and writes the same bytes', () => {
    const bytes = encodeKind(kindOf(DIPLOMA), 'https://example.org/types/1')
    const file = fromCanonical(bytes)
    expect(file).toMatchObject({ vct: 'https://example.org/types/1', display: DIPLOMA.display })
    expect(kindOf(file as object)).toEqual(kindOf(DIPLOMA))
    expect(encodeKind(kindOf(file as object), 'https://example.org/types/1')).toEqual(bytes)
  })

  test('says of every field what a wallet checks', () => {
    const { claims } = fromCanonical(encodeKind(kindOf(DIPLOMA), 'x')) as { claims: object[] }
    expect(claims.slice(0, 3)).toEqual([
      {
        path: ['subjectName'],
        display: [{ locale: 'en', label: 'Graduate' }],
        mandatory: true,
        sd: 'always',
      },
      { path: ['expiresAt'], display: [], mandatory: true, sd: 'always' },
      { ...DIPLOMA.claims[2], sd: 'always' },
    ])
  })

  test('accepts the category from the file, or from its caller', () => {
    expect(readKind(DIPLOMA)).toMatchObject({ kind: { category: 'diploma' } })
    const { document_registry: _, ...without } = DIPLOMA
    expect(readKind(without, 'permit')).toMatchObject({ kind: { category: 'permit' } })
    for (const [value, category] of [
      [without, undefined],
      [DIPLOMA, 'permit'],
    ] as const)
      expect(readKind(value, category)).toMatchObject({
        problems: [{ field: 'document_registry.category' }],
      })
  })

  test.each([
    ['a string', 'diploma', ['']],
    ['an array', [], ['']],
    ['no name', { ...DIPLOMA, display: [] }, ['display']],
    ['a name of blanks', named(' \u200b\u3164'), ['display.0.name']],
    ['a name that is a number', named(1), ['display.0.name']],
    ['a name that turns text', named('abc\u202egpj'), ['display.0.name']],
    ['an isolate that is not closed', named('\u2067abc'), ['display.0.name']],
    ['a line break', named('a\nb'), ['display.0.name']],
    ['half a character', named('a\ud800'), ['display.0.name']],
    ['a long name', named('x'.repeat(101)), ['display.0.name']],
    [
      'a locale that is none',
      { ...DIPLOMA, display: [{ locale: '<b>', name: 'x' }] },
      ['display.0.locale'],
    ],
    [
      'a language twice',
      {
        ...DIPLOMA,
        display: [
          { locale: 'en', name: 'x' },
          { locale: 'EN', name: 'y' },
        ],
      },
      ['display'],
    ],
    [
      'another type that it extends',
      { ...DIPLOMA, extends: 'https://example.org/types/1' },
      ['extends'],
    ],
    [
      'pictures',
      { ...DIPLOMA, display: [{ locale: 'en', name: 'x', rendering: {} }] },
      ['display.0.rendering'],
    ],
    [
      'an unknown extension',
      { ...DIPLOMA, document_registry: { script: 'x' } },
      ['document_registry.script'],
    ],
    [
      'a path to another file',
      { ...DIPLOMA, document_registry: { template: '../x' } },
      ['document_registry.template'],
    ],
    ['a field of the registry', withClaim({ path: ['issuerId'] }), ['claims.0.path']],
    ['a path of nothing', withClaim({ path: [] }), ['claims.0.path']],
    ['a position in a list', withClaim({ path: ['metadata', 0] }), ['claims.0.path.1']],
    ['a deep path', withClaim({ path: ['metadata', 'a', 'b'] }), ['claims.0.path']],
    ['a key of digests', withClaim({ path: ['metadata', '_sd'] }), ['claims.0.path']],
    ['a prototype', withClaim({ path: ['metadata', '__proto__'] }), ['claims.0.path']],
    ['the whole metadata', withClaim({ path: ['metadata'] }), ['claims.0.path']],
    [
      'a field twice',
      { ...DIPLOMA, claims: [{ path: ['metadata', 'a'] }, { path: ['metadata', 'a'] }] },
      ['claims'],
    ],
    [
      '65 fields',
      {
        ...DIPLOMA,
        claims: Array.from({ length: 65 }, (_, i) => ({ path: ['metadata', `f${i}`] })),
      },
      ['claims'],
    ],
    [
      'a name that may be absent',
      withClaim({ path: ['subjectName'], mandatory: false }),
      ['claims.0.mandatory'],
    ],
    [
      'another type of a date',
      withClaim({ path: ['issuedAt'], document_registry: { type: 'text' } }),
      ['claims.0.document_registry'],
    ],
    [
      'an unknown type',
      withClaim({ path: ['metadata', 'a'], document_registry: { type: 'file' } }),
      ['claims.0.document_registry.type'],
    ],
    [
      'choices of no choice',
      withClaim({ path: ['metadata', 'a'], document_registry: { type: 'text', choices: ['x'] } }),
      ['claims.0.document_registry.choices'],
    ],
    [
      'a choice without choices',
      withClaim({ path: ['metadata', 'a'], document_registry: { type: 'choice' } }),
      ['claims.0.document_registry.choices'],
    ],
    [
      'a choice twice',
      withClaim({
        path: ['metadata', 'a'],
        document_registry: { type: 'choice', choices: ['x', 'x'] },
      }),
      ['claims.0.document_registry.choices'],
    ],
    [
      'a field that is never shown alone',
      withClaim({ path: ['metadata', 'a'], sd: 'never' }),
      ['claims.0.sd'],
    ],
  ])('refuses %s, and names the member', (_, value, fields) => {
    expect(problemsIn(value)).toEqual(fields)
  })

  test('names every bad member', () => {
    const bad = {
      ...named(''),
      claims: [{ path: ['x'] }, { path: ['metadata', 'y'], sd: 1 }],
      x: 1,
    }
    expect(problemsIn(bad)).toEqual(['display.0.name', 'claims.0.path', 'claims.1.sd', 'x'])
  })

  test('keeps markup and names of prototypes as text', () => {
    const text = '<img src=x onerror=alert(1)>'
    const kind = kindOf(
      parseStrictJson(
        JSON.stringify({
          ...named(text),
          claims: [
            { path: ['metadata', 'constructor'] },
            { path: ['metadata', 'toString'], mandatory: true },
          ],
        }),
      ) as object,
    )
    expect(kind.display[0]?.name).toBe(text)
    expect(kindProblems(kind, { metadata: {} })).toEqual([
      { field: 'metadata.toString', message: 'is required' },
    ])
    expect(kindProblems(kind, {})).toHaveLength(1)
  })
})

describe('a document of a kind', () => {
  const ADA = {
    subjectName: 'Ada',
    subjectId: '1',
    category: 'diploma',
    issuedAt: '2026-01-31',
    expiresAt: '2036-01-30',
    metadata: { degree: 'Master' } as Record<string, string>,
  }
  const kind = kindOf(DIPLOMA)
  const problemsOf = (metadata: Record<string, string>, rest: object = {}) => {
    const read = readNewDocument({ ...ADA, ...rest, metadata }, Date.now(), (category) =>
      category === 'diploma' ? kind : undefined,
    )
    return 'problems' in read ? read.problems.map(({ field }) => field) : []
  }

  test('fits with the fields of its kind', () => {
    expect(problemsOf({ degree: 'Master' })).toEqual([])
    const all = { degree: 'Bachelor', born: '1955-02-28', grade: '-1.75', 'a.b': 'any' }
    expect(problemsOf(all)).toEqual([])
  })

  test.each<[Record<string, string>, string[]]>([
    [{}, ['metadata.degree']],
    [{ degree: '' }, ['metadata.degree']],
    [{ degree: 'master' }, ['metadata.degree']],
    [{ degree: 'Master', born: '1955-02-29' }, ['metadata.born']],
    [{ degree: 'Master', born: '' }, ['metadata.born']],
    [{ degree: 'Master', grade: '1,7' }, ['metadata.grade']],
    [{ degree: 'Master', grade: '1e3' }, ['metadata.grade']],
    [{ degree: 'Master', grade: ' 1' }, ['metadata.grade']],
    [{ degree: 'Master', dgree: 'Master' }, ['metadata.dgree']],
    [{ born: 'x', x: '' }, ['metadata.degree', 'metadata.born', 'metadata.x']],
  ])('names every field of %j that does not fit', (metadata, fields) => {
    expect(problemsOf(metadata)).toEqual(fields)
  })

  test('names what every document needs as well', () => {
    expect(problemsOf({}, { subjectId: 'x' })).toEqual(['subjectId', 'metadata.degree'])
    const { expiresAt: _, ...forever } = ADA
    expect(readNewDocument(forever, Date.now(), () => kind)).toMatchObject({
      misfit: { subjectName: 'Ada' },
      problems: [{ field: 'expiresAt' }],
    })
  })

  test('accepts other categories', () => {
    expect(problemsOf({ x: 'y' }, { category: 'permit' })).toEqual([])
  })

  test('ignores values that are not text, because the format refuses them', () => {
    for (const metadata of [null, [], 'x', { degree: 1 }])
      expect(() => kindProblems(kind, { metadata })).not.toThrow()
    expect(kindProblems(kind, { ...ADA, expiresAt: 1, metadata: { degree: 1 } })).toEqual([])
  })
})

test('returns the labels of the language, or of the closest one', () => {
  const display = ['pt-BR', 'de', 'en'].map((locale) => ({ locale }))
  for (const [language, locale] of [
    ['de', 'de'],
    ['DE-at', 'de'],
    ['pt', 'pt-BR'],
    ['ar', 'en'],
  ] as const)
    expect(wordsIn(display, language)?.locale).toBe(locale)
  expect(wordsIn([{ locale: 'fr' }], 'ar')?.locale).toBe('fr')
  expect(wordsIn([], 'ar')).toBeUndefined()
})
