import type { ApiKey, Scope, Webhook } from '#client/index.ts'
import { foreign, h } from '#web/dom.ts'
import { showDate } from '#web/i18n.ts'
import type { Desk, View } from '../desk.ts'
import { d, quoted } from '../i18n.ts'
import { categoryNamed } from '../kinds.ts'
import { wordsOf } from '../problems.ts'
import { ask } from './dialog.ts'
import { copyButton, field, hint, section, viewTrouble } from './parts.ts'

const SCOPES = [
  'documents:issue',
  'documents:read',
  'verify',
  'documents:revoke',
  'documents:erase',
  'webhooks',
  'admin',
] as const satisfies readonly Scope[]

/** The programs that use the service: their API keys, and who receives events. */
export function viewPrograms(desk: Desk): View {
  const keys = h('div', {}, h('p', {}, d('loading')))
  const receivers = h('div', {}, h('p', {}, d('loading')))
  listKeys(desk, keys)
  listReceivers(desk, receivers)
  return {
    title: d('nav.programs'),
    content: [
      section(d('keys.all'), hint(d('keys.hint')), keys),
      section(d('keys.add'), viewAddKey(desk, keys)),
      section(d('webhooks.all'), hint(d('webhooks.hint')), receivers),
      section(d('webhooks.add'), viewAddReceiver(desk, receivers)),
    ],
  }
}

/** Fills a place with a list, or with what went wrong. */
async function fill<T>(
  place: HTMLElement,
  read: () => Promise<T[]>,
  view: (one: T) => HTMLElement,
) {
  try {
    const all = await read()
    place.replaceChildren(
      all.length === 0 ? h('p', {}, d('me.none')) : h('ul', { class: 'rows' }, ...all.map(view)),
    )
  } catch (error) {
    place.replaceChildren(viewTrouble(wordsOf(error)))
  }
}

const listKeys = (desk: Desk, place: HTMLElement) =>
  fill(
    place,
    async () => (await desk.client.listKeys()).keys,
    (key) => viewKey(desk, key, place),
  )

function viewKey(desk: Desk, key: ApiKey, place: HTMLElement): HTMLElement {
  const { id, label, scopes, lastUsedAt, expiresAt } = key
  const name = label ?? id
  const dated = (words: 'keys.used' | 'keys.expires', time: string) =>
    ` · ${d(words, { date: showDate(time.slice(0, 10)) })}`
  return viewRow(
    [
      h('strong', {}, foreign(name)),
      ` · ${scopes.map(scopeWords).join(', ')}`,
      lastUsedAt === null ? ` · ${d('keys.unused')}` : dated('keys.used', lastUsedAt),
      expiresAt !== null && dated('keys.expires', expiresAt),
    ],
    [
      removal({
        name,
        does: d('revoke.do'),
        question: d('keys.revoke.question', { name: quoted(name) }),
        text: d('keys.revoke.text'),
        act: () => desk.client.revokeKey({ path: { id } }),
        done: () => listKeys(desk, place),
      }),
    ],
  )
}

const scopeWords = (scope: Scope) => d(`scope.${scope}`)

function viewAddKey(desk: Desk, place: HTMLElement): HTMLElement {
  const label = h('input', { id: 'key-label', type: 'text', autocomplete: 'off', dir: 'auto' })
  const kinds = h('input', { id: 'key-kinds', type: 'text', autocomplete: 'off', dir: 'auto' })
  const boxes = SCOPES.map((scope) => ({
    scope,
    box: h('input', { type: 'checkbox', id: `scope-${scope.replace(':', '-')}` }),
  }))
  return viewForm(desk, {
    fields: [
      field(d('keys.label'), label, { hint: d('keys.label.hint') }),
      h(
        'fieldset',
        {},
        h('legend', {}, d('keys.scopes')),
        ...boxes.map(({ scope, box }) =>
          h('label', { class: 'tick', for: box.id }, box, ' ', scopeWords(scope)),
        ),
      ),
      field(d('people.kinds'), kinds, { hint: d('people.kinds.hint') }),
    ],
    does: d('keys.add'),
    secretTitle: d('keys.secret'),
    async send() {
      const categories = kinds.value.split(/[,;]/).map(categoryNamed).filter(Boolean)
      const { secret } = await desk.client.createKey({
        body: {
          label: label.value.trim(),
          scopes: boxes.filter(({ box }) => box.checked).map(({ scope }) => scope),
          ...(categories.length > 0 && { categories }),
        },
      })
      label.value = ''
      await listKeys(desk, place)
      return secret
    },
  })
}

const listReceivers = (desk: Desk, place: HTMLElement) =>
  fill(
    place,
    async () => (await desk.client.listWebhooks()).webhooks,
    (one) => viewReceiver(desk, one, place),
  )

function viewReceiver(desk: Desk, webhook: Webhook, place: HTMLElement): HTMLElement {
  const { id, url, enabled, failingSince } = webhook
  const state = enabled ? failingSince !== null && d('webhooks.failing') : d('webhooks.off')
  const said = h('p', { role: 'status' })
  const test = async () => {
    said.textContent = d('loading')
    try {
      const { outcome } = await desk.client.testWebhook({ path: { id } })
      said.textContent = d(outcome === 'delivered' ? 'webhooks.reached' : 'webhooks.notReached')
    } catch (error) {
      said.textContent = wordsOf(error)
    }
  }
  const address = h('strong', { dir: 'ltr' }, url)
  return viewRow(
    [address, state !== false && ` · ${state}`],
    [
      h(
        'button',
        {
          type: 'button',
          'aria-label': d('webhooks.test.of', { name: quoted(url) }),
          click: test,
        },
        d('webhooks.test'),
      ),
      removal({
        name: url,
        does: d('people.remove'),
        question: d('webhooks.remove.question', { name: quoted(url) }),
        text: d('webhooks.remove.text'),
        act: () => desk.client.removeWebhook({ path: { id } }),
        done: () => listReceivers(desk, place),
      }),
      said,
    ],
  )
}

function viewAddReceiver(desk: Desk, place: HTMLElement): HTMLElement {
  const url = h('input', { id: 'url', type: 'url', autocomplete: 'off', dir: 'ltr' })
  return viewForm(desk, {
    fields: [field(d('webhooks.url'), url, { hint: d('webhooks.url.hint') })],
    does: d('webhooks.add'),
    secretTitle: d('webhooks.secret'),
    async send() {
      const { secret } = await desk.client.createWebhook({ body: { url: url.value.trim() } })
      url.value = ''
      await listReceivers(desk, place)
      return secret
    },
  })
}

function viewRow(about: (Node | string | false)[], ways: (HTMLElement | undefined)[]): HTMLElement {
  return h('li', {}, h('span', {}, ...about), ...ways)
}

/** A button that asks before it removes something. */
function removal(of: {
  name: string
  does: string
  question: string
  text: string
  act: () => Promise<unknown>
  done: () => Promise<void>
}): HTMLElement {
  const trouble = viewTrouble(undefined)
  const remove = async () => {
    const { question: title, text, does } = of
    if (!(await ask({ title, content: [h('p', {}, text)], does, isFinal: true }))) return
    try {
      await of.act()
      await of.done()
    } catch (error) {
      trouble.textContent = wordsOf(error)
    }
  }
  const name = d('people.remove.of', { name: quoted(of.name) })
  return h(
    'span',
    {},
    h(
      'button',
      { type: 'button', class: 'danger', 'aria-label': name, click: remove },
      d('people.remove'),
    ),
    trouble,
  )
}

/** A form whose answer has a secret, which is shown once. */
function viewForm(
  desk: Desk,
  of: {
    fields: HTMLElement[]
    does: string
    secretTitle: string
    send: () => Promise<string | undefined>
  },
): HTMLElement {
  const trouble = viewTrouble(undefined)
  const shown = h('div', { class: 'invitation' })
  const submit = async (event: Event) => {
    event.preventDefault()
    trouble.textContent = ''
    try {
      const secret = await of.send()
      if (secret !== undefined) showSecret(desk, shown, of.secretTitle, secret)
    } catch (error) {
      trouble.textContent = wordsOf(error)
    }
  }
  return h(
    'form',
    { submit },
    ...of.fields,
    trouble,
    h('div', { class: 'ways' }, h('button', { type: 'submit', class: 'primary' }, of.does)),
    shown,
  )
}

function showSecret(desk: Desk, place: HTMLElement, title: string, secret: string): void {
  const heading = h('h3', { tabindex: '-1' }, title)
  place.replaceChildren(
    heading,
    h('p', { class: 'link', dir: 'ltr' }, secret),
    h('div', { class: 'ways' }, copyButton(d('keys.copy'), secret, desk.announce)),
    hint(d('keys.secret.hint')),
  )
  heading.focus()
}
