import type { Calls } from '#client/index.ts'
import { foreign, h } from '#web/dom.ts'
import { showTime } from '#web/i18n.ts'
import { d } from '../i18n.ts'
import { section } from './parts.ts'

export type Act = Calls['listActs']['data']['acts'][number]

/** Who did what with a document, the newest last. */
export function viewActs(acts: readonly Act[]): HTMLElement | false {
  if (acts.length === 0) return false
  return section(d('acts.heading'), h('ol', { class: 'acts' }, ...acts.map(viewAct)))
}

function viewAct({ act, at, actor, isOfBatch }: Act): HTMLElement {
  return h(
    'li',
    {},
    h('strong', {}, d(`act.${act}`)),
    isOfBatch && ` ${d('acts.batch')}`,
    ' · ',
    viewActor(actor),
    at !== null && ' · ',
    at !== null && h('time', { datetime: at }, showTime(Date.parse(at) / 1000)),
  )
}

function viewActor(actor: Act['actor']): Node | string {
  if (actor === null) return d('acts.unknown')
  const { kind, id, label } = actor
  if (kind === 'person') return foreign(label ?? id)
  return h('span', {}, d('acts.key'), ' ', foreign(label ?? id))
}
