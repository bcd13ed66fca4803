import { decodePublicId } from '#document/public-id.ts'
import { h } from '../dom.ts'
import { t } from '../i18n.ts'
import { isExcerpt } from '../input.ts'
import { askForOffer, type OfferForm } from '../readers.ts'
import type { Done, State } from '../state.ts'
import { viewQr } from './qr-code.ts'

/** Lets the holder of a valid document fetch it with a wallet, where the service offers that. */
export function viewWallet(phase: Done, { config, sources }: State): HTMLElement | false {
  const { verdict, subject, live } = phase
  const { service, walletsOf, registry } = config ?? {}
  if (!live || verdict.status !== 'valid' || isExcerpt(subject)) return false
  const { publicId, isForWallet } = subject
  const isOwn = sources.registry === registry && decodePublicId(publicId).issuerId === walletsOf
  if (service === undefined || !isOwn) return false
  const problem = h('p', { class: 'problem', role: 'alert' })
  const result = h('div', { class: 'result' })

  async function ask(form?: OfferForm): Promise<void> {
    const offer = await askForOffer(service as string, publicId, form)
    problem.textContent = offer === undefined ? t('wallet.failed') : ''
    result.replaceChildren(
      ...(offer === undefined ? [] : [viewOffer(offer.link, () => ask(offer.other))]),
    )
    result.querySelector('h3')?.focus()
  }
  async function submit(event: Event): Promise<void> {
    event.preventDefault()
    await ask()
  }
  return h(
    'section',
    { class: 'share', 'aria-labelledby': 'wallet' },
    h(
      'details',
      { open: isForWallet },
      h('summary', {}, h('h2', { id: 'wallet' }, t('wallet.heading'))),
      h(
        'form',
        { submit },
        h('p', {}, t('wallet.lead')),
        h('p', { class: 'notice' }, t('wallet.learns')),
        problem,
        h('button', { type: 'submit', class: 'primary' }, t('wallet.make')),
      ),
      result,
    ),
  )
}

/** @param askForOther Asks for an offer in the other form. */
function viewOffer(link: string, askForOther: () => void): HTMLElement {
  return h(
    'div',
    {},
    h('h3', { tabindex: '-1' }, t('wallet.ready')),
    h('a', { href: link }, t('wallet.open')),
    viewQr(link, t('wallet.qr')),
    h('p', { class: 'hint' }, t('wallet.hint')),
    h('button', { type: 'button', click: askForOther }, t('wallet.other')),
  )
}
