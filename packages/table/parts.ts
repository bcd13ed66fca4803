import { unzipSync } from 'fflate'
import { decodeText } from './csv.ts'
import { tooLarge } from './grid.ts'
import { TableError } from './table.ts'
import { noWorkbook, walkXml } from './xml.ts'

/** The maximum bytes of all parts that are read; a sheet of 100,000 rows has about 50 MB. */
const MAX_BYTES = 96 * 1024 * 1024
const MAX_PARTS = 10_000

/** A part that another one names. */
export type Related = {
  id: string
  /** The last word of its type, such as `worksheet`. */
  type: string
  path: string
}

/** The parts of a package (Open Packaging Conventions), which are read when they are asked for. */
export type Parts = {
  /** @returns `undefined` if there is no such part. */
  text(path: string): string | undefined
  /** @param path Absent = the package itself. */
  related(path?: string): Related[]
}

/** @throws {TableError} */
export function openParts(bytes: Uint8Array): Parts {
  const names = new Map<string, string>()
  unzip(bytes, ({ name }) => {
    if (names.size >= MAX_PARTS) throw tooLarge()
    const path = resolve(name)
    // Programs differ in which of two they read.
    if (names.has(path)) throw noWorkbook()
    names.set(path, name)
    return false
  })
  let left = MAX_BYTES

  function text(path: string): string | undefined {
    const wanted = names.get(path)
    if (wanted === undefined) return undefined
    const parts = unzip(bytes, ({ name, originalSize }) => {
      if (name !== wanted) return false
      // The library writes no more than the size that the file states.
      left -= originalSize
      if (left < 0) throw tooLarge()
      return true
    })
    try {
      return decodeText(parts[wanted] ?? new Uint8Array())
    } catch (cause) {
      throw noWorkbook(cause)
    }
  }

  function related(path = '/'): Related[] {
    const [, folder, file] = /^(.*\/)([^/]*)$/.exec(path) ?? []
    const found: Related[] = []
    walkXml(text(`${folder}_rels/${file}.rels`) ?? '', {
      open(name, attributes) {
        if (name !== 'Relationship') return
        const { Id = '', Type = '', Target = '', TargetMode } = attributes()
        if (TargetMode !== 'External')
          found.push({ id: Id, type: Type.replace(/^.*\//, ''), path: resolve(Target, path) })
      },
    })
    return found
  }

  return { text, related }
}

type Filter = NonNullable<NonNullable<Parameters<typeof unzipSync>[1]>['filter']>

function unzip(bytes: Uint8Array, filter: Filter): Record<string, Uint8Array> {
  try {
    return unzipSync(bytes, { filter })
  } catch (cause) {
    throw cause instanceof TableError ? cause : noWorkbook(cause)
  }
}

/**
 * @returns The path of a part from the root. Names of parts have no case, and some programs write
 * them with backslashes.
 */
function resolve(target: string, from = '/'): string {
  const plain = target
    .replace(/%([0-7][0-9a-f])/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll('\\', '/')
  const whole = plain.startsWith('/') ? plain : from.replace(/[^/]*$/, () => plain)
  const steps: string[] = []
  for (const step of whole.toLowerCase().split('/'))
    if (step === '..') steps.pop()
    else if (step !== '.' && step !== '') steps.push(step)
  return `/${steps.join('/')}`
}
