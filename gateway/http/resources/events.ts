import * as v from 'valibot'
import {
  EVENT_TYPES,
  type EventType,
  formatEventId,
  parseEventId,
  presentEvent,
} from '#events/events.ts'
import { tenantOf } from '#keys/grant.ts'
import { succeed } from '../core/envelope.ts'
import { ApiError } from '../core/errors.ts'
import { operation, resource } from '../core/operation.ts'
import * as schemas from './schemas.ts'

const MAX_EVENTS = 1_000
const DEFAULT_LIMIT = 100

const isType = (text: string): text is EventType => EVENT_TYPES.some((type) => type === text)
const typesOf = (list: string) => list.split(',')
const ONE_TYPE = EVENT_TYPES.join('|').replaceAll('.', '[.]')
const types = v.pipe(
  v.string(),
  v.check(
    (list) => typesOf(list).every(isType),
    `must be one or more of ${EVENT_TYPES.join(', ')}, separated by commas`,
  ),
  v.metadata({ pattern: `^(${ONE_TYPE})(,(${ONE_TYPE}))*$` }),
)
export const event = v.object({
  id: v.string(),
  type: schemas.eventType,
  timestamp: schemas.time,
  data: v.object({
    documentHash: v.exactOptional(schemas.hash),
    batchRoot: v.exactOptional(
      v.pipe(schemas.hash, v.description('The root of the batch, in an event of a batch.')),
    ),
    blockNumber: v.nullable(schemas.count),
    blockHash: v.nullable(schemas.hash),
    transactionHash: v.nullable(schemas.hash),
    tenant: v.nullable(v.string()),
    actor: schemas.actor,
  }),
})
const EXAMPLE_EVENT = {
  id: 'evt_1795244400000_7',
  type: 'document.issued',
  timestamp: '2026-11-21T08:20:00.000Z',
  data: {
    documentHash: schemas.EXAMPLE_HASH,
    blockNumber: 5,
    blockHash: null,
    transactionHash: schemas.EXAMPLE_TRANSACTION,
    tenant: 'default',
    actor: null,
  },
}

const LIST_EVENTS = operation({
  operationId: 'listEvents',
  route: 'GET /v1/events',
  tag: 'Events',
  summary: 'List events of documents, the oldest first',
  description: "Returns events of the key's tenant; with the scope `admin`, of all tenants.",
  scope: 'documents:read',
  query: {
    after: v.optional(
      v.pipe(schemas.eventId, v.description('The id of the last event that the client has.')),
    ),
    type: v.optional(
      v.pipe(
        types,
        v.description(`One or more of ${EVENT_TYPES.join(', ')}, separated by commas.`),
      ),
    ),
    limit: schemas.sentLimit(MAX_EVENTS, DEFAULT_LIMIT),
  },
  answer: {
    description: 'A page. Request the next one with `after` set to `next` while `hasMore` is true.',
    data: v.object({
      events: v.array(event),
      next: v.nullable(v.string()),
      hasMore: v.boolean(),
    }),
    example: { events: [EXAMPLE_EVENT], next: EXAMPLE_EVENT.id, hasMore: false },
  },
  errors: ['unknown_event'],
})

/** Serves the events of documents. */
export const eventRoutes = resource(
  [LIST_EVENTS],
  (serve, { events }) => {
    serve(LIST_EVENTS, async (c) => {
      const { after, type, limit } = c.get('query')
      const tenant = tenantOf(c.get('grant'))
      const place = parseEventId(after ?? '')
      const page = await events.read({
        limit,
        ...(place && { after: place }),
        ...(type !== undefined && { types: typesOf(type).filter(isType) }),
        ...(tenant !== null && { tenant }),
      })
      if (page === 'unknown_event')
        throw new ApiError(
          'unknown_event',
          'the event is unknown or has expired; read again without after (some events may be lost)',
        )
      return succeed(c, LIST_EVENTS, {
        events: page.events.map((one) => presentEvent(one, tenant)),
        next: page.next ? formatEventId(page.next) : null,
        hasMore: page.hasMore,
      })
    })
  },
  { Event: event },
)
