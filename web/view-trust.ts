import type { Verdict } from '../verifier/index.ts'
import { quorumOf } from './check.ts'
import {
  isOf,
  originOf,
  parseSources,
  type SourceProblem,
  type Sources,
} from './config.ts'
import { foreign, h } from './dom.ts'
import { phrase, showBlock, showNumber, t } from './i18n.ts'
import type { Actions, State } from './state.ts'
import type { TextKey } from './strings/en.ts'

/** Says that a link names another registry than the page trusts: a mistake, or a forger. */
export function viewHint({ phase, sources }: State): HTMLElement | false {
  const hint = phase.at === 'ask' ? undefined : phase.subject.hint
  if (hint === undefined || hint.toLowerCase() === sources.registry)
    return false
  return h(
    'p',
    { class: 'warning', id: 'hint' },
    ...phrase('trust.other', { registry: foreign(hint, { dir: 'ltr' }) }),
  )
}

/** What the verdict rests on, what it does not prove, and how to ask others. */
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
            quorum: showNumber(quorumOf(sources.rpc.length)),
          }),
        ),
      h('p', { class: 'hint' }, t('trust.depends')),
    ),
    viewSources(state, actions),
  )
}

function factsOf(verdict: Verdict | undefined): HTMLElement[] {
  const proof = verdict?.blockchainProof
  const issuer = proof?.issuer
  const facts: [TextKey, string | null | undefined][] = [
    ['trust.issuer', issuer?.name],
    ['trust.uri', issuer?.uri],
    ['trust.account', issuer?.account],
    ['trust.added', proof && showNumber(proof.account.addedBlock)],
    ['trust.hash', proof?.documentHash],
    ['trust.transaction', proof?.transactionHash],
    ['trust.block', verdict?.asOf && showBlock(verdict.asOf)],
  ]
  return facts.flatMap(([key, value]) => (value ? [fact(t(key), value)] : []))
}

function fact(name: string, value: string): HTMLElement {
  return h(
    'div',
    {},
    h('dt', {}, name),
    h(
      'dd',
      {},
      value === '' ? t('trust.none') : h('code', { dir: 'auto' }, value),
    ),
  )
}

function list(
  name: string,
  urls: string[],
  own: (url: string) => boolean,
): HTMLElement[] {
  const values = urls.map((url) =>
    h(
      'dd',
      {},
      h('code', { dir: 'ltr' }, shown(url)),
      own(url) && ` (${t('trust.service')})`,
    ),
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

/** The address of a node often holds a key: what follows the host is not shown. */
function shown(url: string): string {
  return originOf(url) ?? url
}

function viewSources(
  { sources, config, problem }: State,
  actions: Actions,
): HTMLElement {
  const fixed = config !== null
  const errors = new Map<SourceProblem, HTMLElement>()
  const inputs = {
    registry: h('input', {
      type: 'text',
      value: sources.registry,
      readonly: fixed,
      ...attributes('registry'),
    }),
    rpc: h('textarea', { rows: '3', ...attributes('rpc') }),
    ipfs: h('textarea', { rows: '3', ...attributes('ipfs') }),
  }
  inputs.rpc.value = sources.rpc.join('\n')
  inputs.ipfs.value = sources.ipfs.join('\n')

  function submit(event: Event): void {
    event.preventDefault()
    const result = parseSources({
      registry: inputs.registry.value,
      rpc: inputs.rpc.value,
      ipfs: inputs.ipfs.value,
    })
    const problems = 'problems' in result ? result.problems : []
    for (const [name, error] of errors) {
      const bad = problems.includes(name)
      error.textContent = bad ? t(`sources.bad.${name}`) : ''
      inputs[name].setAttribute('aria-invalid', String(bad))
    }
    const [first] = problems
    if (first !== undefined) inputs[first].focus()
    if ('sources' in result) actions.useSources(withLimits(result.sources))
  }

  /** How old a head may be, and how long an answer may take, are not for this form. */
  function withLimits(chosen: Sources): Sources {
    return { ...sources, ...chosen }
  }

  function field(name: SourceProblem, hint?: TextKey): HTMLElement {
    const error = h('p', {
      id: `${name}-problem`,
      class: 'problem',
      role: 'alert',
    })
    errors.set(name, error)
    return h(
      'div',
      { class: 'field' },
      h('label', { for: name }, t(`sources.${name}`)),
      hint && h('p', { class: 'hint', id: `${name}-hint` }, t(hint)),
      inputs[name],
      error,
    )
  }

  return h(
    'details',
    { class: 'sources', open: !fixed || problem === 'sources' },
    h('summary', {}, t('sources.heading')),
    h(
      'form',
      { submit },
      field('registry', fixed ? undefined : 'sources.registry.hint'),
      field('rpc'),
      field('ipfs'),
      h('p', { class: 'hint' }, t('sources.kept')),
      h(
        'div',
        { class: 'ways' },
        h('button', { type: 'submit', class: 'primary' }, t('sources.use')),
        fixed &&
          h(
            'button',
            { type: 'button', click: () => actions.useSources(null) },
            t('sources.reset'),
          ),
      ),
    ),
  )
}

function attributes(name: SourceProblem): Record<string, string> {
  return {
    id: name,
    dir: 'ltr',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
    'aria-describedby': `${name}-problem`,
  }
}
