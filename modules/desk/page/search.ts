import type { Document, UnopenedDocument } from '#client/index.ts'
import { categoryNamed } from './kinds.ts'

export type Filters = {
  subjectId: string
  status: string
  category: string
  createdFrom: string
  createdTo: string
  batchRoot: string
}

/** What was looked for and found. It is in memory alone. */
export type Search = {
  filters: Filters
  /** The cursors of the pages up to the one that is shown; the first page has none. */
  cursors: string[]
  page?: Page
  trouble?: string
  /** The documents of the page that are ticked, by documentHash. */
  chosen: Set<string>
  /** What became of the last change of several documents. */
  report?: { summary: string; problems: string[] }
}

export type Page = { documents: (Document | UnopenedDocument)[]; nextCursor: string | null }

export function newSearch(): Search {
  return {
    filters: {
      subjectId: '',
      status: '',
      category: '',
      createdFrom: '',
      createdTo: '',
      batchRoot: '',
    },
    cursors: [],
    chosen: new Set(),
  }
}

/** @returns The filters that are filled in, as the API accepts them. */
export function sentFilters(filters: Filters): Record<string, string> {
  const sent = {
    ...filters,
    category: categoryNamed(filters.category),
    batchRoot: filters.batchRoot.toLowerCase(),
  }
  return Object.fromEntries(
    Object.entries(sent)
      .map(([name, text]) => [name, text.trim()] as const)
      .filter(([, text]) => text !== ''),
  )
}
