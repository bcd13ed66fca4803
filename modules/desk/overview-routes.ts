import * as v from 'valibot'
import { ALERTS } from '#base/alerts.ts'
import { clock } from '#base/clock.ts'
import type { AnswerOf } from '#http/core/answers.ts'
import { succeed } from '#http/core/envelope.ts'
import { operation, resource } from '#http/core/operation.ts'
import { instant } from '#http/resources/present.ts'
import * as schemas from '#http/resources/schemas.ts'
import { tenantOf } from '#keys/grant.ts'
import type { Tallied, Tally } from '#promise/tallies.ts'
import type { DeskDeps } from './deps.ts'

const WEEKS = 8
const DAY_MS = 86_400_000

const wei = v.nullable(v.pipe(v.string(), v.metadata({ pattern: '^[0-9]+$' })))
const weekSchema = v.object({
  from: v.pipe(v.string(), v.isoDate(), v.description('The Monday, in UTC.')),
  issued: schemas.count,
  revoked: schemas.count,
  superseded: schemas.count,
})

const OVERVIEW = operation({
  operationId: 'retrieveOverview',
  route: 'GET /v1/overview',
  tag: 'Service',
  summary: 'Retrieve what an office wants to know at a glance',
  description:
    "What the key's tenant issued and revoked (with `admin`, all tenants), and the state of the service. Amounts are in wei.",
  scope: 'documents:read',
  answer: {
    description: 'The overview.',
    data: v.object({
      weeks: v.pipe(
        v.array(weekSchema),
        v.description('This week and the seven before it, the oldest first.'),
      ),
      waiting: v.pipe(
        v.object({ queued: schemas.count, refused: schemas.count, inFlight: schemas.count }),
        v.description(
          'Requests that wait for a transaction, those that the chain refused and that are tried again, and transactions that wait for a block.',
        ),
      ),
      account: v.object({
        balance: wei,
        fee: v.pipe(wei, v.description('What issuing one document costs now.')),
        documents: v.pipe(
          v.nullable(schemas.count),
          v.description('How many documents the balance pays for at that price, one by one.'),
        ),
      }),
      fees: v.object({ lastHour: wei, cap: v.pipe(wei, v.description('`null` = no cap.')) }),
      alerts: v.pipe(
        v.array(v.picklist(ALERTS)),
        v.description('What the operator must act on, the most urgent first.'),
      ),
      backup: v.object({
        madeAt: v.pipe(
          v.nullable(schemas.instant),
          v.description(
            'The last `docreg-gateway backup` while the service ran; `null` if unknown.',
          ),
        ),
      }),
    }),
    example: {
      weeks: [{ from: '2026-11-23', issued: 120, revoked: 2, superseded: 1 }],
      waiting: { queued: 0, refused: 0, inFlight: 0 },
      account: { balance: '500000000000000000', fee: '55200000000000', documents: 9_057 },
      fees: { lastHour: '110400000000000', cap: '1000000000000000000' },
      alerts: [],
      backup: { madeAt: '2026-11-23T03:00:00Z' },
    },
  },
  errors: ['store_unavailable'],
})

/** Serves the numbers of the desk's first page. */
export const overviewRoutes = resource<DeskDeps>([OVERVIEW], (serve, deps) => {
  serve(OVERVIEW, async (c) => {
    const monday = mondayOf(Math.floor(clock.now() / DAY_MS))
    const first = monday - 7 * (WEEKS - 1)
    const [tallies, state] = await Promise.all([
      deps.tallies.since(first, tenantOf(c.get('grant'))),
      deps.serviceState(),
    ])
    const { balance, fee } = state.account
    return succeed(c, OVERVIEW, {
      weeks: Array.from({ length: WEEKS }, (_, i) => weekOf(first + 7 * i, tallies)),
      waiting: state.waiting,
      account: {
        balance: text(balance),
        fee: text(fee),
        documents: balance !== null && fee ? Number(balance / fee) : null,
      },
      fees: { lastHour: text(state.fees.lastHour), cap: text(state.fees.cap) },
      alerts: state.alerts,
      backup: { madeAt: instant(state.backupAt && Math.floor(state.backupAt / 1000)) },
    })
  })
})

/** The first of January 1970 was a Thursday. */
const mondayOf = (day: number) => day - ((day + 3) % 7)

const text = (amount: bigint | null) => amount?.toString() ?? null

function weekOf(first: number, tallies: readonly Tally[]): AnswerOf<typeof weekSchema> {
  const own = tallies.filter(({ day }) => day >= first && day < first + 7)
  const sum = (kind: Tallied) =>
    own.filter((one) => one.kind === kind).reduce((total, { count }) => total + count, 0)
  return {
    from: new Date(first * DAY_MS).toISOString().slice(0, 10),
    issued: sum('issued'),
    revoked: sum('revoked'),
    superseded: sum('superseded'),
  }
}
