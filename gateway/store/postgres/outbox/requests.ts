import { groupCalls } from '#base/grouping.ts'
import type { Hex } from '#document/hex.ts'
import type { Standing } from '#promise/anchoring.ts'
import { type Intent, keyOf, keyOfIntent } from '#promise/intent.ts'
import type { Outbox, Withdrawn } from '#promise/ports.ts'
import type { Postgres } from '../../drivers/postgres/database.ts'
import type { Query } from '../../drivers/postgres/query.ts'
import type { LeasedAccount } from '../../stores.ts'
import { claimSuccession } from '../successions.ts'
import { type AddedIssue, insertIssues, type NewIssue } from './issues.ts'
import { insertRevisions, type NewRevision } from './revisions.ts'
import { INTENT_COLUMNS, IS_KEY, intentOf, KEYS, keysOf, standingOf } from './rows.ts'

const MAX_GROUP = 200

type Key = { kind: Intent['kind']; documentHash: Hex }

export type Requests = Outbox & {
  /** Adds an intent to issue, together with others. */
  addIssue(issue: NewIssue): Promise<AddedIssue | 'has_successor'>
}

/** @param owner The account that new intents get, while its lease lasts. */
export function createRequests(
  { query, transaction }: Postgres,
  owner: () => LeasedAccount | undefined = () => undefined,
): Requests {
  const addTogether = groupCalls<NewIssue, AddedIssue>({
    maxItems: MAX_GROUP,
    run: (issues) => insertIssues(query, issues, owner()),
    idOf: ({ intent }) => intent.documentHash,
  })
  const revise = groupCalls<NewRevision, boolean>({
    maxItems: MAX_GROUP,
    run: (revisions) => transaction((within) => insertRevisions(within, revisions, owner())),
    idOf: ({ intent }) => intent.documentHash,
  })
  const addIssue = async (issue: NewIssue) => {
    if (issue.entry?.supersedes)
      return transaction((within) => addSuccessor(within, issue, owner()))
    return addTogether(issue)
  }

  return {
    addIssue,
    async add(intent, promised = false, payload = { inserted: false }, changedBlock = 0) {
      if (intent.kind !== 'issue') return revise({ intent, promised, changedBlock })
      const { inserted, sealed, entry } = payload
      const added = await addIssue({ intent, promised, inserted, sealed, entry })
      return added === 'has_successor' ? added : added.isNew
    },
    ...createStandings(query),
    withdraw: (intents) => transaction((within) => deleteUnpromised(within, intents)),
  }
}

async function addSuccessor(
  query: Query,
  issue: NewIssue,
  owner?: LeasedAccount,
): Promise<AddedIssue | 'has_successor'> {
  const { supersedes, supersededRoot } = issue.entry ?? {}
  const { documentHash: successorHash } = issue.intent
  const isClaimed =
    supersedes === undefined ||
    (await claimSuccession(query, {
      documentHash: supersedes,
      successorHash,
      root: supersededRoot,
    }))
  if (!isClaimed) return 'has_successor'
  const [added] = await insertIssues(query, [issue], owner)
  return added as AddedIssue
}

function createStandings(query: Query): Pick<Outbox, 'find' | 'promise'> {
  const reading = (sql: string) =>
    groupCalls<Key, Standing | undefined>({
      maxItems: MAX_GROUP,
      async run(keys) {
        const rows = await query(sql, keysOf(keys))
        const found = new Map(
          rows.map(standingOf).map((standing) => [keyOfIntent(standing.intent), standing]),
        )
        return keys.map(({ kind, documentHash }) => found.get(keyOf(kind, documentHash)))
      },
    })
  const find = reading(`SELECT ${INTENT_COLUMNS} FROM intent JOIN ${KEYS} ON ${IS_KEY}`)
  const promise = reading(
    `UPDATE intent SET promised = true FROM ${KEYS} WHERE ${IS_KEY} RETURNING ${INTENT_COLUMNS}`,
  )
  return {
    find: (kind, documentHash) => find({ kind, documentHash }),
    promise: (kind, documentHash) => promise({ kind, documentHash }),
  }
}

/** `withdraw`, for use in a transaction. */
export async function deleteUnpromised(
  query: Query,
  intents: readonly Intent[],
): Promise<Withdrawn> {
  const rows = await query(
    `DELETE FROM intent USING ${KEYS}
     WHERE ${IS_KEY} AND transaction_hash IS NULL AND NOT promised AND block_number IS NULL
     RETURNING ${INTENT_COLUMNS}, intent.inserted`,
    keysOf(intents),
  )
  const deleted = new Map(rows.map((row) => [keyOfIntent(intentOf(row)), row]))
  const withdrawn = intents.filter((intent) => deleted.has(keyOfIntent(intent)))
  return {
    intents: withdrawn,
    inserted: withdrawn
      .filter((intent) => deleted.get(keyOfIntent(intent))?.inserted === true)
      .map(({ documentHash }) => documentHash),
  }
}
