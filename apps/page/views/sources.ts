import { parseSources, type SourceProblem, type Sources } from '../config.ts'
import { h } from '../dom.ts'
import { t } from '../i18n.ts'
import type { Actions, State } from '../state.ts'
import type { TextKey } from '../strings/en.ts'

type Inputs = Record<SourceProblem, HTMLInputElement | HTMLTextAreaElement>

/** The form in which the reader chooses the sources. */
export function viewSources({ sources, config, problem }: State, actions: Actions): HTMLElement {
  const fixed = config !== null
  const inputs = createInputs(sources, fixed)
  const errors = {
    registry: createError('registry'),
    rpc: createError('rpc'),
    ipfs: createError('ipfs'),
  }
  const identity = h('input', {
    type: 'checkbox',
    checked: sources.identity ?? true,
  })

  function submit(event: Event): void {
    event.preventDefault()
    const result = parseSources({
      registry: inputs.registry.value,
      rpc: inputs.rpc.value,
      ipfs: inputs.ipfs.value,
    })
    showProblems('problems' in result ? result.problems : [], inputs, errors)
    // This form does not change the maximum head age and the timeout.
    if ('sources' in result)
      actions.useSources({ ...sources, ...result.sources, identity: identity.checked })
  }

  const field = (name: SourceProblem, hint?: TextKey) =>
    viewField(name, inputs[name], errors[name], hint)

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
      viewTick(identity),
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

function createInputs(sources: Sources, fixed: boolean): Inputs {
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
  return inputs
}

function createError(name: SourceProblem): HTMLElement {
  return h('p', { id: `${name}-problem`, class: 'problem', role: 'alert' })
}

/** Shows the problems in place of earlier ones, and focuses the first. */
function showProblems(
  problems: readonly SourceProblem[],
  inputs: Inputs,
  errors: Record<SourceProblem, HTMLElement>,
): void {
  for (const name of ['registry', 'rpc', 'ipfs'] as const) {
    const bad = problems.includes(name)
    errors[name].textContent = bad ? t(`sources.bad.${name}`) : ''
    inputs[name].setAttribute('aria-invalid', String(bad))
  }
  const [first] = problems
  if (first !== undefined) inputs[first].focus()
}

function viewField(
  name: SourceProblem,
  input: HTMLElement,
  error: HTMLElement,
  hint: TextKey | undefined,
): HTMLElement {
  return h(
    'div',
    { class: 'field' },
    h('label', { for: name }, t(`sources.${name}`)),
    hint && h('p', { class: 'hint', id: `${name}-hint` }, t(hint)),
    input,
    error,
  )
}

/** The checkbox for checking the issuer's domain. */
function viewTick(identity: HTMLInputElement): HTMLElement {
  return h(
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
