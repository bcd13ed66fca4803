import type { Client } from '#client/index.ts'
import type { PlainField } from '#document/kind.ts'
import { type Kind, type KindField, readKind } from '#document/kind.ts'
import { t } from '#web/i18n.ts'
import { labelOf, nameOf } from '#web/kinds.ts'
import { inWords } from '#web/views/document.ts'
import { categoryOf } from './fields.ts'

/** A kind of documents, with the number that a change of it names. */
export type KnownKind = Kind & { version: number }

let known: ReadonlyMap<string, KnownKind> = new Map()

/** @returns The kind of a category, if the service has one. */
export const kindOf = (category: string): KnownKind | undefined => known.get(category)

/** @returns All kinds, by category. */
export const allKinds = (): KnownKind[] => [...known.values()]

export function forgetKinds(): void {
  known = new Map()
}

/** Reads the kinds anew. @returns Whether any has changed. Rejects when they cannot be read. */
export async function readKinds(client: Client): Promise<boolean> {
  const { kinds } = await client.listKinds()
  const read = kinds.flatMap(({ category, version, metadata }) => {
    const one = readKind(metadata, category)
    return 'kind' in one ? [{ ...one.kind, version }] : []
  })
  const isSame =
    read.length === known.size &&
    read.every(({ category, version }) => kindOf(category)?.version === version)
  known = new Map(read.map((kind) => [kind.category, kind]))
  return !isSame
}

/** @returns What a kind of documents is called, in the page's language. */
export function kindName(category: string): string {
  return nameOf(kindOf(category)) ?? inWords(category)
}

/** @returns The category that people mean: a kind by its name in any language, or words. */
export function categoryNamed(text: string): string {
  const wanted = text.trim().toLowerCase()
  const isNamed = ({ display }: KnownKind) =>
    display.some(({ name }) => name.toLowerCase() === wanted)
  return allKinds().find(isNamed)?.category ?? categoryOf(text)
}

/** @returns The label of a field of a document, or the name of a further entry. */
export function fieldLabel(name: string, category: string): string {
  const own = labelOf(kindOf(category), name)
  if (own !== undefined) return own
  return name.startsWith('metadata.')
    ? name.slice('metadata.'.length)
    : t(`document.${name as PlainField}`)
}

/** @returns The entries of documents of this category; `undefined` if they are free. */
export function entriesOf(category: string): KindField[] | undefined {
  return kindOf(category)?.fields.filter(({ name }) => name.startsWith('metadata.'))
}

/** @returns What a kind says about a field. */
export function fieldOf(name: string, category: string): KindField | undefined {
  return kindOf(category)?.fields.find((field) => field.name === name)
}
