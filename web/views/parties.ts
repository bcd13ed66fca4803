import type { Verdict } from '../../verifier/index.ts'
import { foreign, h, icon } from '../dom.ts'
import { phrase, showDay, t } from '../i18n.ts'
import { viewHost } from './host.ts'

/** Statuses of which the registry's issuer is said to have issued the document, when it could be read. */
const ISSUED = ['valid', 'expired', 'suspended', 'revoked', 'superseded']
/** A name beside these would lend them its good name: it stands in the details alone. */
const NAMELESS = ['wrong_key', 'tampered']
const GLOBE = [
  'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z',
  'M3 12h18',
  'M12 3c5 5.5 5 12.5 0 18',
  'M12 3c-5 5.5-5 12.5 0 18',
]

/** Who issued it to whom; or in whose name it is recorded, when no more is known. */
export function viewParties(verdict: Verdict): HTMLElement | false {
  const { document, blockchainProof: proof, status } = verdict
  if (proof === null || NAMELESS.includes(status)) return false
  const issuer = strong(proof.issuer.name)
  return h(
    'p',
    { class: 'parties' },
    ...(document !== null && ISSUED.includes(status)
      ? phrase('parties.issued', {
          issuer,
          name: strong(document.subjectName),
        })
      : phrase('parties.recorded', {
          issuer,
          date: h('span', {}, showDay(proof.blockTime)),
        })),
  )
}

/** The issuer's address, without which the name, which anyone can choose, says nothing. */
export function viewAddress(verdict: Verdict): HTMLElement | false {
  const { blockchainProof: proof, status } = verdict
  if (proof === null || NAMELESS.includes(status)) return false
  const { uri } = proof.issuer
  if (uri === '') return h('p', { class: 'hint' }, t('issuer.none'))
  const host = hostOf(uri)
  return h(
    'div',
    { class: 'address' },
    icon(...GLOBE),
    // Not a link: what the reader should do is compare it, not go where a forger wants them to.
    h(
      'div',
      { class: 'place' },
      host === undefined
        ? h('p', {}, foreign(uri, { dir: 'ltr' }))
        : viewHost(host),
      h('p', { class: 'hint' }, t('issuer.same')),
    ),
  )
}

/** @returns `undefined` for what is not the address of a website. */
function hostOf(uri: string): string | undefined {
  try {
    const { protocol, host } = new URL(uri)
    return /^https?:$/.test(protocol) ? host : undefined
  } catch {
    return undefined
  }
}

function strong(text: string): HTMLElement {
  return h('strong', {}, foreign(text))
}
