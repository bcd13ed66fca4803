import type { Calls, IssuedDocument } from '#client/index.ts'
import { h } from '#web/dom.ts'
import { showTime, t } from '#web/i18n.ts'
import { type OfferForm, otherFormOf } from '#web/readers.ts'
import { viewQr } from '#web/views/qr-code.ts'
import type { Desk } from '../desk.ts'
import { d } from '../i18n.ts'
import { wordsOf } from '../problems.ts'
import { may } from '../session.ts'
import { copyButton, hint, outside, section, viewTrouble } from './parts.ts'

type Offer = Calls['offerDocument']['data']

/** An offer to a holder who is here, and to one who gets a letter and a code to type. */
const TERMS = { here: {}, away: { txCode: true, expiresIn: 3 * 86_400 } } as const

/** Lets a clerk offer a valid document to its holder's wallet. */
export function viewWallet(desk: Desk, { documentHash, status, category }: IssuedDocument) {
  const { categories } = desk.session.person
  const isOwn = categories === null || categories.includes(category)
  if (status !== 'valid' || !isOwn || !may(desk.session, 'documents:issue')) return false
  const result = h('section', { 'aria-live': 'polite' })

  async function offer(terms: keyof typeof TERMS, iss?: OfferForm): Promise<void> {
    try {
      const path = { publicId: documentHash }
      const body = { ...TERMS[terms], ...(iss && { iss }) }
      const offered = await desk.client.offerDocument({ path, body })
      const other = () => offer(terms, otherFormOf(offered.offer))
      result.replaceChildren(
        ...viewOffer(desk, offered),
        h(
          'div',
          { class: 'ways' },
          h('button', { type: 'button', click: other }, t('wallet.other')),
        ),
      )
    } catch (error) {
      result.replaceChildren(viewTrouble(wordsOf(error)))
    }
  }
  return section(
    d('wallet.heading'),
    hint(d('wallet.hint')),
    h(
      'div',
      { class: 'ways' },
      ...(['here', 'away'] as const).map((terms) =>
        h(
          'button',
          { type: 'button', id: `offer-${terms}`, click: () => offer(terms) },
          d(`wallet.${terms}`),
        ),
      ),
    ),
    result,
  )
}

function viewOffer({ announce }: Desk, { link, txCode, expiresAt }: Offer): Node[] {
  const code = viewQr(link, t('wallet.qr'))
  return [
    ...(code ? [code] : []),
    ...(txCode === undefined
      ? []
      : [h('p', {}, d('wallet.code'), ' ', h('strong', { dir: 'ltr' }, txCode))]),
    h(
      'div',
      { class: 'ways' },
      copyButton(t('share.link'), link, announce),
      outside(link, d('wallet.open')),
    ),
    hint(d('wallet.until', { time: showTime(Date.parse(expiresAt) / 1000) })),
  ]
}
