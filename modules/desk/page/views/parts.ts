import type { Network, Status } from '#client/index.ts'
import { foreign, h, icon } from '#web/dom.ts'
import { t } from '#web/i18n.ts'
import { copy } from '#web/views/actions.ts'
import { ATTENTION } from '#web/views/alert.ts'
import { d } from '../i18n.ts'
import { kindName } from '../kinds.ts'

type Tone = 'good' | 'bad' | 'held' | 'past' | 'open'

const TONES: Record<string, Tone> = {
  valid: 'good',
  pending: 'open',
  suspended: 'held',
  revoked: 'bad',
  distrusted: 'bad',
  superseded: 'past',
  expired: 'past',
  erased: 'past',
}

/** @returns A status in a clerk's words. */
export function statusWords(status: Status): string {
  return status === 'pending' ? d('status.pending') : t(`${status}.title`)
}

export function viewStatus(status: Status): HTMLElement {
  return h('span', { class: `status ${TONES[status] ?? 'open'}` }, statusWords(status))
}

export function viewCategory(category: string): HTMLElement {
  return foreign(kindName(category))
}

export function section(title: string, ...content: (Node | string | false | undefined)[]) {
  return h('section', {}, h('h2', {}, title), ...content)
}

export function hint(text: string): HTMLElement {
  return h('p', { class: 'hint' }, text)
}

/** A message that something went wrong, which screen readers announce. */
export function viewTrouble(text: string | undefined): HTMLElement {
  return h('p', { class: 'problem', role: 'alert' }, text)
}

export function viewNotice(...text: (Node | string)[]): HTMLElement {
  return h('p', { class: 'alert' }, icon(...ATTENTION), h('span', {}, ...text))
}

export function viewNetwork(network: Network): HTMLElement | false {
  return (
    network === 'test' &&
    h('p', { class: 'network' }, icon(...ATTENTION), h('span', {}, t('network.test')))
  )
}

/** A link that copies to the clipboard, and says so. */
export function copyButton(label: string, text: string, announce: (text: string) => void) {
  const button = h(
    'button',
    {
      type: 'button',
      click: async () => {
        const said = (await copy(text)) ? t('copied') : t('copyFailed')
        button.textContent = said
        announce(said)
      },
    },
    label,
  )
  return button
}

/** A link to another page. It learns neither this address nor anything of this tab. */
export function outside(href: string, label: string): HTMLElement {
  return h('a', { href, target: '_blank', rel: 'noopener noreferrer' }, label)
}

let counter = 0

/** A label with its field, and what is wrong with it. */
export function field(
  label: string | HTMLElement,
  input: HTMLElement,
  { hint: more, problem }: { hint?: string | undefined; problem?: string | undefined } = {},
): HTMLElement {
  const id = input.id || `field-${++counter}`
  input.id = id
  const described = [more && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ')
  if (described !== '') input.setAttribute('aria-describedby', described)
  if (problem !== undefined) input.setAttribute('aria-invalid', 'true')
  return h(
    'div',
    { class: 'field' },
    h('label', { for: id }, label),
    more !== undefined && h('p', { class: 'hint', id: `${id}-hint` }, more),
    input,
    problem !== undefined && h('p', { class: 'problem', id: `${id}-problem` }, problem),
  )
}

/** Saves bytes as a file. */
export function saveBytes(name: string, bytes: Uint8Array, type: string): void {
  saveBlob(name, new Blob([new Uint8Array(bytes)], { type }))
}

export function saveBlob(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob)
  h('a', { href: url, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

const THREE_DIGITS = { maximumSignificantDigits: 3 } as const

/** @returns About that long, in the page's language, rounded up: `30 seconds`, `6 minutes`. */
export function duration(seconds: number): string {
  const [unit, length, step] =
    seconds <= 60
      ? (['second', 1, 10] as const)
      : seconds <= 2 * 3600
        ? (['minute', 60, 1] as const)
        : (['hour', 3600, 1] as const)
  const { lang } = document.documentElement
  const words = new Intl.NumberFormat(lang, { style: 'unit', unit, unitDisplay: 'long' })
  return words.format(Math.ceil(seconds / length / step) * step)
}

/** @param wei An amount in wei. @returns About that much in ether, in the page's language. */
export function ether(wei: string): string {
  const { lang } = document.documentElement
  return new Intl.NumberFormat(lang, THREE_DIGITS).format(Number(wei) / 1e18)
}
