import { parseSources, type SourceProblem, type Sources } from '../config.ts'
import { h } from '../dom.ts'
import { t } from '../i18n.ts'
import type { Actions, State } from '../state.ts'
import type { TextKey } from '../strings/en.ts'

/** Where the reader chooses whom to ask. */
export function viewSources({ sources, config, problem }: State, actions: Actions): HTMLElement {
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
  const identity = h('input', {
    type: 'checkbox',
    checked: sources.identity ?? true,
  })
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
    return { ...sources, ...chosen, identity: identity.checked }
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
      h(
        'label',
        { class: 'tick' },
        identity,
        h(
          'span',
          {},
          h('span', { class: 'name' }, t('sources.identity')),
          ' ',
          h('span', { class: 'hint' }, t('sources.identity.hint')),
        ),
      ),
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
