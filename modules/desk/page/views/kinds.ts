import { decodeJsonText, parseStrictJson } from '#document/json.ts'
import { MAX_KIND_BYTES, readKind } from '#document/kind.ts'
import { foreign, h } from '#web/dom.ts'
import type { Desk, View } from '../desk.ts'
import { d, quoted } from '../i18n.ts'
import { draftOf, newDraft } from '../kind-draft.ts'
import { allKinds, type KnownKind, kindName, kindOf, readKinds } from '../kinds.ts'
import { wordsOf } from '../problems.ts'
import { ask } from './dialog.ts'
import { viewKindForm } from './kind-form.ts'
import { hint, saveBytes, section, viewTrouble } from './parts.ts'

/** The kinds of documents. For administrators. */
export function viewKinds(desk: Desk): View {
  const { kind } = desk.memory
  if (kind) {
    const title =
      kind.version === 0
        ? d('kinds.add')
        : d('kinds.edit.of', { name: quoted(kindName(kind.category)) })
    return { title, tab: d('nav.kinds'), content: [viewKindForm(desk, kind)] }
  }
  const kinds = allKinds()
  return {
    title: d('nav.kinds'),
    content: [
      viewAdd(desk),
      section(
        d('kinds.all'),
        kinds.length === 0
          ? h('p', {}, d('kinds.none'))
          : h('ul', { class: 'rows' }, ...kinds.map((one) => viewKind(desk, one))),
      ),
    ],
  }
}

function viewAdd(desk: Desk): HTMLElement {
  const trouble = viewTrouble(undefined)
  const input = h('input', {
    type: 'file',
    class: 'unseen',
    accept: '.json,application/json',
    change: async () => {
      const [file] = input.files ?? []
      input.value = ''
      if (file) trouble.textContent = (await readFile(desk, file)) ?? ''
    },
  })
  return h(
    'section',
    {},
    hint(d('kinds.lead')),
    h(
      'div',
      { class: 'ways' },
      h(
        'button',
        {
          type: 'button',
          class: 'primary',
          click: () => {
            desk.memory.kind = newDraft()
            desk.redraw('heading')
          },
        },
        d('kinds.add'),
      ),
      h('label', { class: 'button' }, input, d('kinds.import')),
    ),
    trouble,
  )
}

/** Opens a file as a draft. @returns What is wrong with it, in words. */
async function readFile(desk: Desk, file: File): Promise<string | undefined> {
  const bad = (field: string) => d('kinds.badFile', { field: quoted(field) })
  if (file.size > MAX_KIND_BYTES) return bad(file.name)
  try {
    const text = decodeJsonText(new Uint8Array(await file.arrayBuffer()))
    const read = readKind(parseStrictJson(text.trim()))
    if ('problems' in read) return bad(read.problems[0]?.field || file.name)
    desk.memory.kind = draftOf(read.kind, kindOf(read.kind.category)?.version ?? 0)
    desk.redraw('heading')
    return undefined
  } catch {
    return bad(file.name)
  }
}

function viewKind(desk: Desk, kind: KnownKind): HTMLElement {
  const { category, version } = kind
  const name = quoted(kindName(category))
  const trouble = viewTrouble(undefined)
  const attempt = async (act: () => Promise<void>) => {
    trouble.textContent = ''
    try {
      await act()
    } catch (error) {
      trouble.textContent = wordsOf(error)
    }
  }
  const button = (label: string, spoken: string, click: () => void, kindOfButton = '') =>
    h('button', { type: 'button', 'aria-label': spoken, class: kindOfButton, click }, label)
  return h(
    'li',
    {},
    h('span', {}, h('strong', {}, foreign(kindName(category))), ' · ', foreign(category)),
    button(d('kinds.edit'), d('kinds.edit.of', { name }), () => {
      desk.memory.kind = draftOf(kind, version)
      desk.redraw('heading')
    }),
    button(d('kinds.export'), d('kinds.save.of', { name }), () =>
      attempt(() => saveFile(desk, category)),
    ),
    button(
      d('kinds.remove'),
      d('kinds.remove.of', { name }),
      () => attempt(() => remove(desk, kind)),
      'danger',
    ),
    trouble,
  )
}

/** Saves the file as wallets read it. */
async function saveFile(desk: Desk, category: string): Promise<void> {
  const { kinds } = await desk.client.listKinds()
  const found = kinds.find((one) => one.category === category)
  const text = `${JSON.stringify(found?.metadata, null, 2)}\n`
  saveBytes(`${category}.json`, new TextEncoder().encode(text), 'application/json')
}

async function remove(desk: Desk, { category, version }: KnownKind): Promise<void> {
  const isYes = await ask({
    title: d('kinds.remove.question', { name: quoted(kindName(category)) }),
    content: [h('p', {}, d('kinds.remove.text'))],
    does: d('kinds.remove'),
  })
  if (!isYes) return
  await desk.client.removeKind({ path: { category }, query: { version: String(version) } })
  await readKinds(desk.client)
  if (desk.isAt('#/kinds')) desk.redraw('heading')
}
