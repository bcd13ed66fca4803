import { h } from '../dom.ts'
import { showBlock, showTime, t } from '../i18n.ts'
import type { Done } from '../state.ts'
import type { TextKey } from '../strings/en.ts'

/** Additions for print: the page's address, the time, and data for auditors. */
export function viewPrinted({ verdict, checkedAt }: Done, registry: string): HTMLElement {
  const facts: [TextKey, string | undefined][] = [
    ['printed.page', location.host || t('printed.file')],
    ['printed.time', showTime(Math.floor(checkedAt / 1000))],
    ['trust.block', verdict.asOf ? showBlock(verdict.asOf) : undefined],
    ['trust.registry', registry],
    ['trust.hash', verdict.blockchainProof?.documentHash],
  ]
  return h(
    'dl',
    { class: 'printed' },
    ...facts.map(
      ([key, value]) =>
        value !== undefined && h('div', {}, h('dt', {}, t(key)), h('dd', {}, h('bdi', {}, value))),
    ),
  )
}
