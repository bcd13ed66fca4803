type Child = Node | string | undefined | false | null
type Properties = Record<string, string | boolean | ((event: never) => void) | undefined>

/**
 * Creates an element. Text is inserted as text, never as markup, so that a document's content
 * cannot become part of the page.
 *
 * @param properties Attributes; a function is a listener for the event of that name.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === 'function') element.addEventListener(name, value as EventListener)
    else if (value === true) element.setAttribute(name, '')
    else if (value !== undefined && value !== false) element.setAttribute(name, value)
  }
  element.append(...children.filter(isThere))
  return element
}

function isThere(child: Child): child is Node | string {
  return child !== undefined && child !== null && child !== false
}

/** Text of others, isolated so that its writing direction does not affect the text next to it. */
export function foreign(text: string, properties: Properties = {}): HTMLElement {
  return h('bdi', properties, text)
}

const SVG = 'http://www.w3.org/2000/svg'

/** Creates an SVG element. */
export function svg(
  tag: 'svg' | 'path' | 'rect',
  attributes: Record<string, string>,
  ...children: SVGElement[]
): SVGElement {
  const element = document.createElementNS(SVG, tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children)
  return element
}

/** A line drawing on a grid of 24, which only repeats the text next to it. */
export function icon(...paths: string[]): SVGElement {
  return svg(
    'svg',
    { class: 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true' },
    ...paths.map((d) => svg('path', { d })),
  )
}
