/** What is counted: documents, by what became of them. */
export const TALLIED = ['issued', 'revoked', 'superseded'] as const
export type Tallied = (typeof TALLIED)[number]

/** How many documents of a day. Counting began with the version that brought it. */
export type Tally = {
  /** Days since 1970-01-01. */
  day: number
  kind: Tallied
  count: number
}

export type Tallies = {
  /** @param tenant The tenant that asked for it; `null` = all tenants. */
  since(day: number, tenant: string | null): Promise<Tally[]>
}
