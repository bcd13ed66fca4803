import type { DocumentFields } from '#document/document.ts'
import { h } from '#web/dom.ts'
import type { Desk } from '../desk.ts'
import { d } from '../i18n.ts'
import { wordsOf } from '../problems.ts'
import { field, hint, saveBytes, section, viewTrouble } from './parts.ts'

const PDF = 'application/pdf'

/** What is printed, and the words for it. */
type Printing = {
  /**
   * By the text of their buttons: each prints with this template, and saves what comes.
   */
  ways: Record<string, (template: string, progress: (text: string) => void) => Promise<void>>
  /** What stands below. */
  note: string
  /** What was not printed before, and why. */
  trouble?: string
}

/** The certificate of a valid document. */
export function viewCertificate(desk: Desk, documentHash: string): HTMLElement {
  return viewPrinting(desk, {
    ways: {
      async [d('certificate.save')](template) {
        const query = { template }
        const body = { documents: [documentHash] }
        const bytes = await desk.client.printCertificates({ query, body })
        saveBytes(`certificate-${documentHash.slice(2, 10)}.pdf`, bytes, PDF)
      },
    },
    note: d('certificate.secret'),
  })
}

/**
 * How a document that is being typed would look.
 *
 * @param read Returns the document; `undefined` shows its problems instead.
 */
export function viewPreview(desk: Desk, read: () => DocumentFields | undefined): HTMLElement {
  return viewPrinting(desk, {
    ways: {
      async [d('certificate.preview')](template) {
        const body = read()
        if (body === undefined) return
        const bytes = await desk.client.printSpecimen({ query: { template }, body })
        saveBytes('specimen.pdf', bytes, PDF)
      },
    },
    note: d('certificate.preview.hint'),
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

function viewChoice(desk: Desk, templates: string[], printing: Printing): Node[] {
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
  const trouble = viewTrouble(printing.trouble)
  const say = (text: string) => {
    said.textContent = text
  }
  const setBusy = (isBusy: boolean) => {
    for (const button of buttons) button.disabled = isBusy
    say(isBusy ? d('actions.busy') : '')
  }
  const buttons = Object.entries(printing.ways).map(([does, print]) =>
    h(
      'button',
      {
        type: 'button',
        click: async () => {
          setBusy(true)
          trouble.textContent = ''
          try {
            await print(select.value, say)
          } catch (error) {
            trouble.textContent = wordsOf(error)
          } finally {
            setBusy(false)
          }
        },
      },
      does,
    ),
  )
  return [
    field(d('certificate.template'), select),
    h('div', { class: 'ways' }, ...buttons),
    said,
    trouble,
    hint(printing.note),
  ]
}
