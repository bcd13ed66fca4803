import type { ListedPerson, Person } from '#client/index.ts'
import { foreign, h } from '#web/dom.ts'
import { showDate, t } from '#web/i18n.ts'
import type { Desk, View } from '../desk.ts'
import { d, quoted } from '../i18n.ts'
import { categoryNamed } from '../kinds.ts'
import { wordsOf } from '../problems.ts'
import { ask } from './dialog.ts'
import { copyButton, field, hint, section, viewTrouble } from './parts.ts'

const ROLES = ['reader', 'clerk', 'registrar', 'administrator'] as const
type Role = (typeof ROLES)[number]

/** Who may use the desk. For administrators. */
export function viewPeople(desk: Desk): View {
  const place = h('div', {}, h('p', {}, d('loading')))
  const link = h('div', { class: 'invitation' })
  list(desk, place, link)
  return {
    title: d('nav.people'),
    content: [
      section(d('people.add'), viewAdd(desk, place, link), link),
      section(d('people.all'), place),
    ],
  }
}

async function list(desk: Desk, place: HTMLElement, link: HTMLElement): Promise<void> {
  try {
    const { people } = await desk.client.listPeople()
    place.replaceChildren(
      h('ul', { class: 'rows' }, ...people.map((one) => viewPerson(desk, one, place, link))),
    )
  } catch (error) {
    place.replaceChildren(viewTrouble(wordsOf(error)))
  }
}

/** Shows the link of an invitation, which is shown only once. */
function showLink(
  desk: Desk,
  place: HTMLElement,
  invited: { person: Person; invitation: string; expiresAt: string },
): void {
  const { person, invitation, expiresAt } = invited
  const heading = h(
    'h3',
    { tabindex: '-1' },
    d('people.link', { name: quoted(person.name), date: showDate(expiresAt.slice(0, 10)) }),
  )
  place.replaceChildren(
    heading,
    h('p', { class: 'link', dir: 'ltr' }, invitation),
    h('div', { class: 'ways' }, copyButton(t('share.link'), invitation, desk.announce)),
    hint(d('people.link.hint')),
  )
  heading.focus()
}

function viewAdd(desk: Desk, place: HTMLElement, link: HTMLElement): HTMLElement {
  const name = h('input', { id: 'name', type: 'text', autocomplete: 'off', dir: 'auto' })
  const categories = h('input', { id: 'kinds', type: 'text', autocomplete: 'off', dir: 'auto' })
  const role = roleSelect('role', 'clerk')
  const trouble = viewTrouble(undefined)
  return h(
    'form',
    {
      submit: async (event: Event) => {
        event.preventDefault()
        trouble.textContent = ''
        const kinds = categoriesIn(categories.value)
        try {
          const invited = await desk.client.addPerson({
            body: {
              name: name.value.trim(),
              role: role.value as Role,
              ...(kinds.length > 0 && { categories: kinds }),
            },
          })
          name.value = ''
          showLink(desk, link, invited)
          await list(desk, place, link)
        } catch (error) {
          trouble.textContent = wordsOf(error)
        }
      },
    },
    field(t('document.subjectName'), name),
    field(d('people.role'), role),
    field(d('people.kinds'), categories, { hint: d('people.kinds.hint') }),
    trouble,
    h('div', { class: 'ways' }, h('button', { type: 'submit', class: 'primary' }, d('people.add'))),
  )
}

function roleSelect(id: string, now: Role): HTMLSelectElement {
  return h(
    'select',
    { id },
    ...ROLES.map((one) => h('option', { value: one, selected: one === now }, d(`role.${one}`))),
  )
}

/** Asks for another role and other kinds. Whom the provider signs in has the role from there. */
async function change(desk: Desk, person: ListedPerson): Promise<void> {
  const { id, name, categories, isFromProvider, isBlocked } = person
  const role = roleSelect('new-role', person.role)
  const block = h('input', { type: 'checkbox', checked: isBlocked })
  const kinds = h('input', { id: 'new-kinds', type: 'text', autocomplete: 'off', dir: 'auto' })
  kinds.value = (categories ?? []).join(', ')
  const isYes = await ask({
    title: d('people.change.title', { name: quoted(name) }),
    content: [
      !isFromProvider && field(d('people.role'), role),
      field(d('people.kinds'), kinds, { hint: d('people.kinds.hint') }),
      viewTick(block, d('people.block')),
      h('p', {}, d('people.change.text')),
    ],
    does: d('people.change'),
    isFinal: false,
  })
  if (!isYes) return
  const list = categoriesIn(kinds.value)
  await desk.client.changePerson({
    path: { id },
    body: {
      ...(!isFromProvider && { role: role.value as Role }),
      categories: list.length > 0 ? list : null,
      isBlocked: block.checked,
    },
  })
}

const viewTick = (box: HTMLInputElement, ...label: (Node | string)[]) =>
  h('label', { class: 'tick' }, box, h('span', {}, ...label))

/** @returns Another link; `undefined` if it was not wanted after all. */
async function invite(desk: Desk, { id, name, passkeys }: ListedPerson) {
  const lost = h('input', { type: 'checkbox', checked: passkeys > 0 })
  const isYes =
    passkeys === 0 ||
    (await ask({
      title: d('people.invite.of', { name: quoted(name) }),
      content: [viewTick(lost, d('people.lost'))],
      does: d('people.invite'),
    }))
  if (!isYes) return undefined
  return desk.client.invitePerson({ path: { id }, body: { removePasskeys: lost.checked } })
}

/** Asks which passkeys of a person to remove. */
async function removePasskeys(desk: Desk, { id, name }: ListedPerson): Promise<void> {
  const { passkeys } = await desk.client.listPersonPasskeys({ path: { id } })
  const boxes = passkeys.map((passkey) => ({ passkey, box: h('input', { type: 'checkbox' }) }))
  const isYes = await ask({
    title: d('people.passkeys.of', { name: quoted(name) }),
    content: [
      h('p', {}, d('people.passkeys.text')),
      ...boxes.map(({ passkey: { label, lastUsedAt }, box }) =>
        viewTick(box, foreign(label), ' · ', usedWords(lastUsedAt)),
      ),
    ],
    does: d('people.remove'),
    isFinal: true,
  })
  if (!isYes) return
  for (const { passkey, box } of boxes)
    if (box.checked) await desk.client.removePersonPasskey({ path: { id, passkey: passkey.id } })
}

const usedWords = (time: string | null) =>
  time === null ? d('keys.unused') : d('keys.used', { date: showDate(time.slice(0, 10)) })

const categoriesIn = (text: string) => text.split(/[,;]/).map(categoryNamed).filter(Boolean)

function viewPerson(
  desk: Desk,
  person: ListedPerson,
  place: HTMLElement,
  link: HTMLElement,
): HTMLElement {
  const { id, name, role, sessions, passkeys, invitation, isFromProvider, isBlocked } = person
  const trouble = viewTrouble(undefined)
  const attempt = async (act: () => Promise<void>) => {
    trouble.textContent = ''
    try {
      await act()
      await list(desk, place, link)
    } catch (error) {
      trouble.textContent = wordsOf(error)
    }
  }
  const remove = async () => {
    const isYes = await ask({
      title: d('people.remove.question', { name: quoted(name) }),
      content: [
        h('p', {}, d('people.remove.text')),
        isFromProvider && h('p', { class: 'warning' }, d('people.comesBack')),
      ],
      does: d('people.remove'),
      isFinal: true,
    })
    if (isYes)
      await attempt(async () => {
        await desk.client.removePerson({ path: { id } })
      })
  }
  const state = [
    sessions.length > 0 && d('people.signedIn'),
    passkeys > 0 && d('people.hasPasskey'),
    invitation !== null && d('people.invited'),
    isFromProvider && d('people.provider'),
    isBlocked && d('people.blocked'),
  ].filter((text) => text !== false)
  return h(
    'li',
    {},
    h(
      'span',
      {},
      h('strong', {}, foreign(name)),
      ' · ',
      d(`role.${role}`),
      state.length > 0 && ` · ${state.join(', ')}`,
    ),
    h(
      'button',
      {
        type: 'button',
        'aria-label': d('people.change.of', { name: quoted(name) }),
        click: () => attempt(() => change(desk, person)),
      },
      d('people.change'),
    ),
    !isFromProvider &&
      h(
        'button',
        {
          type: 'button',
          'aria-label': d('people.invite.of', { name: quoted(name) }),
          click: () =>
            attempt(async () => {
              const invited = await invite(desk, person)
              if (invited) showLink(desk, link, invited)
            }),
        },
        d('people.invite'),
      ),
    sessions.length > 0 &&
      h(
        'button',
        {
          type: 'button',
          'aria-label': d('people.signOut.of', { name: quoted(name) }),
          click: () =>
            attempt(async () => {
              await desk.client.endPersonSessions({ path: { id } })
            }),
        },
        d('people.signOut'),
      ),
    passkeys > 0 &&
      h(
        'button',
        {
          type: 'button',
          'aria-label': d('people.passkeys.of', { name: quoted(name) }),
          click: () => attempt(() => removePasskeys(desk, person)),
        },
        d('people.passkeys'),
      ),
    id !== desk.session.person.id &&
      // Removing them would lift the block.
      !(isBlocked && isFromProvider) &&
      h(
        'button',
        {
          type: 'button',
          class: 'danger',
          'aria-label': d('people.remove.of', { name: quoted(name) }),
          click: remove,
        },
        d('people.remove'),
      ),
    trouble,
  )
}
