import { readFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import * as v from 'valibot'
import { describeMember, problemsOf } from '#document/members.ts'
import { CertificateError } from './errors.ts'
import { LABEL_NAMES, labelsOf } from './labels.ts'

/** The maximum length of one text of a template, in UTF-16 units. */
const MAX_TEXT = 4000

const LANGUAGE = /^[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?$/
const languageTag = v.pipe(
  v.string('must be a string'),
  v.regex(LANGUAGE, 'must be a language tag, such as en or zh-Hant'),
)
const text = v.pipe(
  v.string('must be a string'),
  v.maxLength(MAX_TEXT, `must have at most ${MAX_TEXT} characters`),
)
/** A text in one or more languages. */
const texts = v.record(languageTag, text, 'must be an object with a text for each language')
type Texts = v.InferOutput<typeof texts>
const colour = v.pipe(
  v.string('must be a string'),
  v.regex(/^#[0-9a-fA-F]{6}$/, 'must be # followed by six hexadecimal digits'),
)
/** The engine opens the file inside the folder of the template. */
const picture = v.pipe(
  v.string('must be a string'),
  v.check(
    (file) => !isAbsolute(file) && !file.split(/[\\/]/).includes('..'),
    'must be in the folder of the template',
  ),
  v.regex(/\.(svg|png|jpe?g)$/i, 'must be an SVG, PNG or JPEG file'),
)
const signature = v.strictObject(
  { name: text, role: v.optional(texts, {}), picture: v.optional(picture) },
  describeMember,
)

type Worded = { languages: readonly string[]; labels: Record<string, Texts>; walletCode: boolean }

/** @returns The missing words of languages without built-in words, such as `check.it`. */
function missingLabels({ languages, labels, walletCode }: Worded): string[] {
  const without = languages.filter((tag) => labelsOf(tag) === undefined)
  const needed = LABEL_NAMES.filter((name) => name !== 'wallet' || walletCode)
  return without.flatMap((tag) =>
    needed.filter((name) => labels[name]?.[tag] === undefined).map((name) => `${name}.${tag}`),
  )
}

const settings = v.pipe(
  v.strictObject(
    {
      languages: v.pipe(
        v.array(languageTag, 'must be a list'),
        v.minLength(1, 'must have at least one language'),
        v.maxLength(3, 'must have at most three languages'),
      ),
      colours: v.strictObject({ ink: colour, accent: colour, paper: colour }, describeMember),
      fonts: v.optional(v.array(text, 'must be a list'), []),
      logo: v.optional(picture),
      seal: v.optional(picture),
      issuer: texts,
      address: v.optional(texts, {}),
      title: v.optional(texts, {}),
      intro: v.optional(texts, {}),
      body: v.optional(texts, {}),
      labels: v.optional(v.record(v.string(), texts, 'must be an object'), {}),
      fields: v.optional(v.array(v.string('must be a string'), 'must be a list')),
      signatures: v.optional(
        v.pipe(
          v.array(signature, 'must be a list'),
          v.maxLength(3, 'must have at most three signatures'),
        ),
        [],
      ),
      walletCode: v.optional(v.boolean('must be true or false'), false),
    },
    describeMember,
  ),
  v.forward(
    v.partialCheck(
      [['languages'], ['labels'], ['walletCode']],
      (given) => missingLabels(given).length === 0,
      ({ input }) => `requires labels for ${missingLabels(input).join(', ')}`,
    ),
    ['languages'],
  ),
)

/** The settings in `settings.json` next to the template; see docs/registrar.md. */
export type Settings = v.InferOutput<typeof settings>

/**
 * @param folder The folder of a template.
 * @throws {CertificateError} `bad_template`, naming every bad member.
 */
export function readSettings(folder: string): Settings {
  const file = join(folder, 'settings.json')
  const read = v.safeParse(settings, parseFile(file))
  if (read.success) return read.output
  const problems = problemsOf(read.issues).map(({ field, message }) => `${field} ${message}`)
  throw new CertificateError('bad_template', `${file}: ${problems.join('; ')}`)
}

function parseFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8').trim())
  } catch (cause) {
    throw new CertificateError('bad_template', `${file} is missing or is not JSON`, cause)
  }
}
