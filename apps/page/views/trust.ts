import { majorityOf } from '#verifier/defaults.ts'
import type { BlockchainProof } from '#verifier/index.ts'
import { isOf, originOf } from '../config.ts'
import { h } from '../dom.ts'
import type { PageVerdict } from '../findings.ts'
import { showBlock, showNumber, showTime, t } from '../i18n.ts'
import type { Actions, Done, State } from '../state.ts'
import type { TextKey } from '../strings/en.ts'
import { viewSources } from './sources.ts'

/** Shows the basis of the verdict, its limits, and how to choose other sources. */
export function viewTrust(state: State, actions: Actions): HTMLElement {
  const { sources, phase, config } = state
  const verdict = phase.at === 'done' ? phase.verdict : undefined
  const own = (url: string) => isOf(config?.service, url)
  return h(
    'section',
    { class: 'trust', 'aria-labelledby': 'trust' },
    h('h2', { id: 'trust' }, t('trust.heading')),
    !isSecureContext && h('p', { class: 'warning' }, t('trust.insecure')),
    h('p', { class: 'notice' }, t('trust.qr')),
    h('dl', {}, fact(t('trust.registry'), sources.registry)),
    h(
      'details',
      { class: 'facts' },
      h('summary', {}, t('trust.details')),
      h(
        'dl',
        {},
        ...factsOf(verdict),
        ...list(t('trust.rpc'), sources.rpc, own),
        ...list(t('trust.ipfs'), sources.ipfs, own),
      ),
      sources.rpc.length > 1 &&
        h(
          'p',
          {},
          t('trust.quorum', {
            count: showNumber(sources.rpc.length),
            quorum: showNumber(majorityOf(sources.rpc.length)),
          }),
        ),
      h('p', { class: 'hint' }, t('trust.depends')),
    ),
    viewSources(state, actions),
  )
}

function factsOf(verdict: PageVerdict | undefined): HTMLElement[] {
  const proof = verdict?.blockchainProof
  const issuer = proof?.issuer
  const facts: [TextKey, string | null | undefined][] = [
    ['trust.issuer', issuer?.name],
    ['trust.uri', issuer?.uri],
    ['trust.account', issuer?.account],
    ['trust.added', proof && ageOf(proof)],
    ['trust.setAside', proof && t(`trust.setAside.${proof.setAside}`)],
    ['trust.hash', proof?.documentHash],
    ['trust.transaction', proof?.transactionHash],
    ['trust.block', verdict?.asOf && showBlock(verdict.asOf)],
  ]
  return facts.flatMap(([key, value]) => (value ? [fact(t(key), value)] : []))
}

/** @returns How many blocks before this issue the account was added to the registry. */
function ageOf({ account, blockNumber }: BlockchainProof): string {
  const block = showNumber(account.addedBlock)
  const before = showNumber(blockNumber - account.addedBlock)
  return t('trust.age', { block, before })
}

function fact(name: string, value: string): HTMLElement {
  return h(
    'div',
    {},
    h('dt', {}, name),
    h('dd', {}, value === '' ? t('trust.none') : h('code', { dir: 'auto' }, value)),
  )
}

function list(name: string, urls: string[], own: (url: string) => boolean): HTMLElement[] {
  const values = urls.map((url) =>
    h('dd', {}, h('code', { dir: 'ltr' }, shown(url)), own(url) && ` (${t('trust.service')})`),
  )
  return [
    h(
      'div',
      {},
      h('dt', {}, name),
      ...(values.length > 0 ? values : [h('dd', {}, t('trust.none'))]),
    ),
  ]
}

/** The URL of a node often contains a key, so only the host is shown. */
function shown(url: string): string {
  return originOf(url) ?? url
}

/** Adds the page's address, the time, and data for auditors for print. */
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
