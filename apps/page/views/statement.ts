import type { Hex } from '#document/hex.ts'
import { h } from '../dom.ts'
import type { Findings, PageVerdict } from '../findings.ts'
import { showDay, showNumber, showTime, t } from '../i18n.ts'
import { proofBlockOf, type Subject } from '../input.ts'
import type { Actions } from '../state.ts'
import { troublesOf } from '../words.ts'

/** The statement of a proof file, below the answer of the nodes. */
export function viewStatement({ statement, live }: Findings): HTMLElement | false {
  if (statement === undefined || !live) return false
  const { status, asOf } = statement
  const text =
    asOf === null
      ? [t('statement.unusable'), ...troublesOf(statement)].join(' ')
      : t('statement.text', {
          date: showTime(asOf.blockTime),
          // A proof file does not say whether a domain confirms the issuer.
          status: t(status === 'valid' ? 'valid.asking' : `${status}.title`),
        })
  return h(
    'section',
    { class: 'statement', 'aria-labelledby': 'statement' },
    h('h2', { id: 'statement' }, t('statement.heading')),
    h('p', {}, text),
    asOf !== null && h('p', { class: 'hint' }, t('statement.later')),
  )
}

export function isUntrusted({ checks }: PageVerdict): boolean {
  return checks.some(({ code }) => code === 'block_untrusted')
}

/** A proof file is only as good as its block. Without a node, somebody must vouch for the block. */
export function viewTrustedBlock(subject: Subject, actions: Actions): HTMLElement | false {
  const block = proofBlockOf(subject)
  if (!block) return false
  const problem = h('p', {
    id: 'block-problem',
    class: 'problem',
    role: 'alert',
  })
  const input = h('input', {
    id: 'block',
    type: 'text',
    dir: 'ltr',
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-describedby': 'block-problem',
  })
  const submit = (event: Event) => {
    event.preventDefault()
    const hash = input.value.trim().toLowerCase()
    const good = /^0x[0-9a-f]{64}$/.test(hash)
    problem.textContent = good ? '' : t('bundle.bad')
    input.setAttribute('aria-invalid', String(!good))
    if (good) actions.trustBlock(hash as Hex)
    else input.focus()
  }
  return h(
    'form',
    { class: 'field', submit },
    h(
      'label',
      { for: 'block' },
      t('bundle.label', {
        block: showNumber(block.blockNumber),
        date: showDay(block.blockTime),
      }),
    ),
    input,
    problem,
    h('button', { type: 'submit' }, t('bundle.check')),
  )
}
