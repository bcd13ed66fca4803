import { CallError, type Passkey } from '#client/index.ts'
import { foreign, h } from '#web/dom.ts'
import { showDate } from '#web/i18n.ts'
import type { Desk, View } from '../desk.ts'
import { d, quoted } from '../i18n.ts'
import { wordsOf } from '../problems.ts'
import { addPasskey, isAddress, mayUsePasskeys } from '../session.ts'
import { ask } from './dialog.ts'
import { field, hint, section, viewTrouble } from './parts.ts'

/** The person who is signed in, and their passkeys. */
export function viewMe(desk: Desk): View {
  const { person, passkeys } = desk.session
  const place = h('div', {}, h('p', {}, d('loading')))
  list(desk, place)
  return {
    title: quoted(person.name),
    tab: d('me.passkeys'),
    content: [
      section(d('people.role'), h('p', {}, d(`role.${person.role}`))),
      !person.isFromProvider &&
        section(
          d('me.passkeys'),
          hint(d('passkey.text')),
          place,
          mayUsePasskeys()
            ? viewAdd(desk, passkeys)
            : hint(d(isAddress() ? 'passkey.address' : 'passkey.lacking')),
        ),
    ],
  }
}

async function list(desk: Desk, place: HTMLElement): Promise<void> {
  try {
    const { passkeys } = await desk.client.listPasskeys()
    desk.session.passkeys = passkeys.length
    place.replaceChildren(
      passkeys.length === 0
        ? h('p', {}, d('me.none'))
        : h(
            'ul',
            { class: 'rows' },
            ...passkeys.map((one) => viewPasskey(desk, one, passkeys.length === 1)),
          ),
    )
  } catch (error) {
    place.replaceChildren(viewTrouble(wordsOf(error)))
  }
}

function viewPasskey(desk: Desk, { id, label, createdAt }: Passkey, isLast: boolean): HTMLElement {
  const remove = async () => {
    const isYes = await ask({
      title: d('me.remove.question', { label: quoted(label) }),
      content: [
        h('p', {}, d('me.remove.text')),
        isLast && h('p', { class: 'warning' }, d('me.remove.last')),
      ],
      does: d('people.remove'),
      isFinal: true,
    })
    if (!isYes) return
    await desk.client.removePasskey({ path: { id } }).catch((error) => {
      desk.announce(wordsOf(error))
    })
    desk.redraw('heading')
  }
  return h(
    'li',
    {},
    h('span', {}, foreign(label), ' · ', showDate(createdAt.slice(0, 10))),
    h('button', { type: 'button', click: remove }, d('people.remove')),
  )
}

function viewAdd(desk: Desk, count: number): HTMLElement {
  const label = h('input', { id: 'label', type: 'text', autocomplete: 'off', maxlength: '100' })
  label.value = d('passkey.label', { number: String(count + 1) })
  const trouble = viewTrouble(undefined)
  return h(
    'form',
    {
      submit: async (event: Event) => {
        event.preventDefault()
        trouble.textContent = ''
        try {
          await addPasskey(desk.client, label.value.trim())
          desk.session.passkeys++
          desk.announce(d('passkey.done'))
          desk.redraw('heading')
        } catch (error) {
          trouble.textContent = error instanceof CallError ? wordsOf(error) : d('passkey.refused')
        }
      },
    },
    count > 0 && hint(d('passkey.proof')),
    field(d('passkey.name'), label),
    trouble,
    h(
      'div',
      { class: 'ways' },
      h('button', { type: 'submit', class: 'primary' }, d('passkey.heading')),
    ),
  )
}
