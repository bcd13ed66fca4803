import type { Hono } from 'hono'
import * as v from 'valibot'
import {
  EVENT_TYPES,
  type EventLog,
  type EventType,
  formatEventId,
  parseEventId,
  presentEvent,
} from '../../events.ts'
import type { FindKey } from '../../grant.ts'
import { authorize } from '../authorize.ts'
import type { Env } from '../env.ts'
import { succeed } from '../envelope.ts'
import { ApiError } from '../errors.ts'

export type EventDeps = {
  findKey: FindKey
  events: EventLog
}

const MAX_EVENTS = 1_000

const eventId = v.pipe(
  v.string(),
  v.check((text) => parseEventId(text) !== undefined, 'must be the id of an event'),
)
const isType = (text: string): text is EventType => EVENT_TYPES.some((type) => type === text)
const typesOf = (list: string) => list.split(',')
const types = v.pipe(
  v.string(),
  v.check(
    (list) => typesOf(list).every(isType),
    `must be one of ${EVENT_TYPES.join(', ')}, or several, comma-separated`,
  ),
)
const limit = v.pipe(
  v.string(),
  v.check(
    (text) => /^[1-9]\d{0,3}$/.test(text) && Number(text) <= MAX_EVENTS,
    `must be a whole number from 1 to ${MAX_EVENTS}`,
  ),
)
const QUERY = {
  after: v.optional(eventId),
  type: v.optional(types),
  limit: v.optional(limit, '100'),
}

/** GET /v1/events: what happened to documents, oldest first. */
export function eventRoutes(app: Hono<Env>, { findKey, events }: EventDeps): void {
  app.get('/v1/events', authorize(findKey, 'documents:read', QUERY), async (c) => {
    const { after, type, limit } = c.get('query')
    const { tenant, scopes } = c.get('grant')
    const place = parseEventId(after ?? '')
    const page = await events.read({
      limit: Number(limit),
      ...(place && { after: place }),
      ...(type !== undefined && { types: typesOf(type).filter(isType) }),
      ...(!scopes.includes('admin') && { tenant }),
    })
    if (page === 'unknown_event')
      throw new ApiError(
        'unknown_event',
        'the event is not kept (any more): later ones may be missing too; read again without after',
      )
    return succeed(c, {
      events: page.events.map(presentEvent),
      next: page.next ? formatEventId(page.next) : null,
      hasMore: page.hasMore,
    })
  })
}
