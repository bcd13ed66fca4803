import { type BlockchainProof, identityAddressOf } from '#verifier/index.ts'
import { foreign, h, icon } from '../dom.ts'
import type { PageVerdict } from '../findings.ts'
import { maybe, phrase, showDay, t } from '../i18n.ts'
import { identityOf } from '../identity.ts'
import type { Done } from '../state.ts'
import { denialOf, NAMELESS } from '../words.ts'
import { ATTENTION } from './alert.ts'
import { viewDomain } from './host.ts'

/** Statuses that name the registry's issuer as the document's issuer, if it could be read. */
const ISSUED = ['valid', 'expired', 'suspended', 'revoked', 'superseded']
const GLOBE = [
  'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z',
  'M3 12h18',
  'M12 3c5 5.5 5 12.5 0 18',
  'M12 3c-5 5.5-5 12.5 0 18',
]
const TICK = ['M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z', 'm7.8 12.3 3 3 5.6-6.2']

/**
 * Shows the subject and the issuer: the domain that vouches for it, or the name that it gives
 * itself. The domain's answer comes after the verdict.
 */
export function viewParties(phase: Done): HTMLElement | false {
  const { blockchainProof: proof, status } = phase.verdict
  if (proof === null || NAMELESS.includes(status)) return false
  return h('div', { class: 'parties' }, ...viewIssuer(phase, proof))
}

function viewIssuer(phase: Done, { issuer, chainId }: BlockchainProof): (Node | false)[] {
  const { verdict, asking } = phase
  const to = viewSubject(verdict)
  if (issuer.domain !== null)
    return [
      viewLinked(issuer.domain),
      to,
      h('p', { class: 'hint' }, ...phrase('domain.linked', { issuer: strong(issuer.name) })),
    ]
  // The name is plain and comes last, because anyone can be registered under any name.
  const name = h(
    'p',
    { class: 'hint' },
    ...phrase('issuer.calls', { issuer: foreign(issuer.name) }),
  )
  if (asking !== undefined) return [to, viewAddress(asking, t('domain.asking')), name]
  const { outcome, code } = identityOf(verdict)
  if (outcome === 'fail') return [viewDenial(issuer.uri, chainId, code), to, name]
  return [to, viewUnconfirmed(issuer.uri, chainId, code), name]
}

function viewSubject(verdict: PageVerdict): HTMLElement | false {
  const { fields, status, blockchainProof: proof } = verdict
  if (fields === null || !ISSUED.includes(status))
    return h('p', { class: 'to' }, t('parties.recorded', { date: showDay(proof?.blockTime ?? 0) }))
  const { subjectName } = fields
  return (
    subjectName !== undefined &&
    h('p', { class: 'to' }, ...phrase('parties.issued', { name: strong(subjectName) }))
  )
}

function viewLinked(domain: string): HTMLElement {
  return h(
    'div',
    { class: 'address linked' },
    icon(...TICK),
    h(
      'div',
      { class: 'place' },
      h('span', { class: 'unseen' }, t('domain.confirmed')),
      ...viewDomain(domain),
    ),
  )
}

/**
 * Shows a warning next to the verdict, which it does not change, because the registered domain may
 * belong to somebody else.
 */
function viewDenial(uri: string, chainId: number, code: string): HTMLElement {
  const domain = identityAddressOf(uri, chainId)?.domain ?? ''
  return h(
    'div',
    { class: 'alert denial', id: 'denial' },
    icon(...ATTENTION),
    h('div', { class: 'place' }, h('p', {}, t(denialOf(code))), ...viewDomain(domain)),
  )
}

/**
 * Shows the issuer's address in the registry for the reader to compare. A text that is not a
 * domain's address is not shown as one, because no domain could deny it.
 */
function viewUnconfirmed(uri: string, chainId: number, code: string): HTMLElement {
  if (uri === '') return h('p', { class: 'hint' }, t('issuer.none'))
  const why = maybe(`domain.${code}`) ?? ''
  const hint = `${why} ${t('issuer.same')}`
  const domain = identityAddressOf(uri, chainId)?.domain
  if (domain !== undefined) return viewAddress(domain, hint)
  // The text is escaped, because some letters look like ASCII and some reorder text.
  const text = foreign(encodeURI(uri), { dir: 'ltr', class: 'path' })
  return h('div', {}, h('p', {}, text), h('p', { class: 'hint' }, hint))
}

/**
 * The address is not a link, because the reader should compare it, and not visit a forger's page.
 */
function viewAddress(domain: string, hint: string): HTMLElement {
  return h(
    'div',
    { class: 'address' },
    icon(...GLOBE),
    h('div', { class: 'place' }, ...viewDomain(domain), h('p', { class: 'hint' }, hint)),
  )
}

function strong(text: string): HTMLElement {
  return h('strong', {}, foreign(text))
}
