import type { DocumentFields } from '#document/document.ts'
import { h } from '#web/dom.ts'
import type { Desk } from '../desk.ts'
import { d } from '../i18n.ts'
import { wordsOf } from '../problems.ts'
import { field, hint, saveBytes, section, viewTrouble } from './parts.ts'

const PDF = 'application/pdf'

/** What is printed, and the words for it. */
type Printing = {
  /** The text of the button. */
  does: string
  /** What stands below. */
  note: string
  /** Prints with this template, and saves what comes. @returns What to say of it. */
  print(template: string, progress: (text: string) => void): Promise<string | undefined>
}

/** The certificate of a valid document. */
export function viewCertificate(desk: Desk, documentHash: string): HTMLElement {
  return viewPrinting(desk, {
    does: d('certificate.save'),
    note: d('certificate.secret'),
    async print(template) {
      const query = { template }
      const body = { documents: [documentHash] }
      const bytes = await desk.client.printCertificates({ query, body })
      saveBytes(`certificate-${documentHash.slice(2, 10)}.pdf`, bytes, PDF)
      return undefined
    },
  })
}

/**
 * How a document that is being typed would look.
 *
 * @param read Returns the document; `undefined` shows its problems instead.
 */
export function viewPreview(desk: Desk, read: () => DocumentFields | undefined): HTMLElement {
  return viewPrinting(desk, {
    does: d('certificate.preview'),
    note: d('certificate.preview.hint'),
    async print(template) {
      const body = read()
      if (body === undefined) return undefined
      saveBytes('specimen.pdf', await desk.client.printSpecimen({ query: { template }, body }), PDF)
      return undefined
    },
  })
}

/** A choice of the template, with a button that prints. Without an engine it says so. */
export function viewPrinting(desk: Desk, printing: Printing): HTMLElement {
  const place = section(d('certificate.heading'))
  templatesOf(desk).then(
    (templates) =>
      place.append(
        ...(templates.length > 0
          ? viewChoice(desk, templates, printing)
          : [hint(d('error.certificates_unavailable'))]),
      ),
    (error) => place.append(viewTrouble(wordsOf(error))),
  )
  return place
}

/** @returns The templates that can be used; they are asked for once, unless there were none. */
async function templatesOf({ memory, client }: Desk): Promise<string[]> {
  if (memory.templates !== undefined) return memory.templates
  const { isAvailable, templates } = await client.listTemplates()
  if (isAvailable) memory.templates = templates
  return isAvailable ? templates : []
}

function viewChoice(desk: Desk, templates: string[], { does, note, print }: Printing): Node[] {
  const { memory } = desk
  const select = h(
    'select',
    {
      change: () => {
        memory.template = select.value
      },
    },
    ...templates.map((name) =>
      h('option', { value: name, selected: name === memory.template }, name),
    ),
  )
  const said = h('p', { role: 'status' })
  const trouble = viewTrouble(undefined)
  const button = h(
    'button',
    {
      type: 'button',
      click: async () => {
        button.disabled = true
        trouble.textContent = ''
        said.textContent = d('certificate.busy')
        try {
          const done = await print(select.value, (text) => {
            said.textContent = text
          })
          said.textContent = done ?? ''
        } catch (error) {
          said.textContent = ''
          trouble.textContent = wordsOf(error)
        } finally {
          button.disabled = false
        }
      },
    },
    does,
  )
  return [
    field(d('certificate.template'), select),
    h('div', { class: 'ways' }, button),
    said,
    trouble,
    hint(note),
  ]
}
