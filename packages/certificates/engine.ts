import { readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CertificateError } from './errors.ts'
import { findPack, type Pack } from './packs.ts'
import { scriptsIn } from './scripts.ts'

/**
 * The part of the engine that is used. The engine is installed on first use, so its own types are
 * not available here.
 */
type Compiler = {
  mapShadow(path: string, content: Buffer): void
  compile(options: { mainFilePath: string }): {
    result: object | null
    takeDiagnostics(): object | null
  }
  pdf(document: object, options: { pdfStandard: string }): Buffer
  fetchDiagnostics(error: object): Diagnostic[]
  evictCache(maxAge: number): void
}
type Diagnostic = { message: string; path?: string; range?: { start: { line: number } } }
type Typst = {
  NodeCompiler: {
    create(options: { workspace: string; fontArgs: { fontPaths: string[] }[] }): Compiler
  }
}

/** Files that the engine finds in the folder `docreg/` of the template, by name. */
type Files = Record<string, string | Uint8Array>

// In the package, this code is in a file of another folder.
const ours = fileURLToPath(new URL('../../packages/certificates/templates/', import.meta.url))
const STANDARD = 'a-3a'
/** Results that this many later certificates have not used are dropped. */
const MAX_CACHE_AGE = 5

/** The font families of a pack, for text with and without serifs. */
const FAMILIES: Record<Pack, { serif: string[]; sans: string[] }> = {
  base: both(
    ['EB Garamond'],
    ['Source Sans 3'],
    [
      'Noto Naskh Arabic',
      'Noto Sans Devanagari',
      'Noto Sans Hebrew',
      'Noto Sans Thai',
      'Noto Sans Bengali',
      'Noto Sans Tamil',
      'Source Sans 3',
      'EB Garamond',
    ],
  ),
  chinese: both([], [], ['Noto Sans S Chinese']),
  'chinese-traditional': both([], [], ['Noto Sans T Chinese']),
  japanese: both([], [], ['Noto Sans Japanese']),
  korean: both([], [], ['Noto Sans Korean']),
}

function both(serif: string[], sans: string[], others: string[]) {
  return { serif: [...serif, ...others], sans: [...sans, ...others] }
}

/** Makes PDFs from one template. */
export type Engine = {
  /**
   * @param packs The packs that the text needs; missing ones are installed.
   * @param files Makes the files from `fonts`, whose families are to be searched in order.
   * @returns A PDF/A-3a; the same bytes for the same files.
   * @throws {CertificateError} `bad_template`, `unprintable`, `no_engine`.
   */
  print(
    packs: Pack[],
    files: (fonts: { serif: string[]; sans: string[] }) => Files,
  ): Promise<Buffer>
}

export type EngineOptions = {
  /** The folder of the template. */
  template: string
  /** Folders with the issuer's own fonts. */
  fontPaths: string[]
  cache: string
  /** Absent = nothing is installed. */
  report?: (message: string) => void
}

export function createEngine({ template, fontPaths, cache, report }: EngineOptions): Engine {
  const workspace = realpathSync(template)
  const compilers = new Map<string, Promise<Compiler>>()
  const at = (name: string) => join(workspace, 'docreg', name)

  async function open(packs: Pack[]): Promise<Compiler> {
    const folders: string[] = []
    for (const pack of packs) folders.push(await findPack(pack, cache, report))
    const { NodeCompiler } = load(folders[0] ?? '')
    const compiler = NodeCompiler.create({
      workspace,
      fontArgs: [{ fontPaths: [...fontPaths, ...folders] }],
    })
    for (const name of ['lib.typ', 'main.typ'])
      compiler.mapShadow(at(name), readFileSync(join(ours, name)))
    return compiler
  }

  return {
    async print(packs, files) {
      const key = packs.join()
      const opened = compilers.get(key) ?? open(packs)
      compilers.set(key, opened)
      const compiler = await opened
      const families = (kind: 'serif' | 'sans') => [
        ...new Set(packs.flatMap((pack) => FAMILIES[pack][kind])),
      ]
      const made = files({ serif: families('serif'), sans: families('sans') })
      for (const [name, content] of Object.entries(made))
        compiler.mapShadow(at(name), Buffer.from(content as string))
      try {
        return toPdf(compiler, at('main.typ'))
      } finally {
        compiler.evictCache(MAX_CACHE_AGE)
      }
    },
  }
}

function load(modules: string): Typst {
  const name = '@myriaddreamin/typst-ts-node-compiler'
  try {
    return createRequire(join(modules, 'x.js'))(name)
  } catch (cause) {
    throw new CertificateError(
      'no_engine',
      `the PDF engine does not run on this machine: ${cause}`,
      cause,
    )
  }
}

function toPdf(compiler: Compiler, mainFilePath: string): Buffer {
  const compiled = compiler.compile({ mainFilePath })
  const { result } = compiled
  if (result === null) {
    const problems = compiled.takeDiagnostics()
    const first = problems && compiler.fetchDiagnostics(problems)[0]
    throw new CertificateError(
      'bad_template',
      first ? placed(first) : 'the template is not valid Typst',
    )
  }
  try {
    return compiler.pdf(result, { pdfStandard: STANDARD })
  } catch (cause) {
    throw unprintable(cause)
  }
}

/** The engine quotes a text as code, within the code of its error. */
const NO_FONT = /the text `\\*"(.*?)\\*"` could not be displayed/g

/**
 * The engine's message is not used, because it quotes the text, which contains personal data; only
 * the scripts of the characters that no font has.
 */
function unprintable(cause: unknown): CertificateError {
  const texts = [...String(cause).matchAll(NO_FONT)].map(([, text = '']) =>
    text.replace(/\\+u\{([0-9a-f]+)\}/g, (_, code) => String.fromCodePoint(parseInt(code, 16))),
  )
  const scripts = scriptsIn(texts.join())
  if (scripts.length > 0)
    return new CertificateError(
      'fonts_missing',
      `no font has its ${scripts.join(' and ')} characters: put one into the folder fonts of the template, or name its folder with --fonts`,
      cause,
    )
  return new CertificateError(
    'unprintable',
    texts.length > 0
      ? 'no font has one of its characters'
      : 'the document cannot be printed as PDF/A-3a: a picture of the template may have no alt text',
    cause,
  )
}

function placed({ message, path = '', range }: Diagnostic): string {
  return `${basename(path)}:${(range?.start.line ?? 0) + 1}: ${message}`
}
