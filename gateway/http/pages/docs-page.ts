import { html } from 'hono/html'
import {
  ABOUT_ERRORS,
  type ApiErrorEntry,
  againOf,
  ERROR_GROUPS,
  ERRORS,
} from '../core/error-table.ts'
import type { Markup } from './page.ts'
import { prose } from './page.ts'

// The API reference as a page, made from the OpenAPI document. It has no script and loads nothing
// from another host.

type Schema = {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  description?: string
  default?: unknown
}
type Parameter = {
  name: string
  in: string
  required: boolean
  description?: string
  schema: Schema
}
type Content = Record<string, { schema?: Schema; example?: unknown }>
type Described = {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  security: Record<string, string[]>[]
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, { description: string; content?: Content }>
}
/** The part of an OpenAPI document that the page shows. */
export type Reference = {
  info: { title: string; version: string; description: string }
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, Schema> }
}
type Entry = Described & { method: string; path: string }

/** @param api The OpenAPI document of this service. */
export function docsPage(api: Reference): Markup {
  const entries = Object.entries(api.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, described]) => ({ ...described, method, path })),
  )
  const sections = api.tags.map((tag) => ({
    ...tag,
    entries: entries.filter(({ tags }) => tags.includes(tag.name)),
  }))
  return html`<section class="reference">
<h1>REST API</h1>
${api.info.description.split('\n\n').map((text) => html`<p>${prose(text.replaceAll('\n', ' '))}</p>`)}
<p class="hint">Version ${api.info.version}. For generators of clients: <a href="openapi.json">openapi.json</a>.</p>
<nav aria-label="Operations">
${sections.map(
  ({ name, entries }) => html`<h2>${name}</h2>
<ul>${entries.map(
    ({ operationId, method, path, summary }) =>
      html`<li><a href="#${operationId}">${summary}</a> <code>${method.toUpperCase()} ${path}</code></li>`,
  )}</ul>`,
)}
<h2>More</h2>
<ul><li><a href="#errors">Errors</a></li><li><a href="#schemas">Schemas</a></li></ul>
</nav>
</section>
${sections.map(
  ({ name, description, entries }) => html`<h2 class="tag">${name}</h2>
<p class="lead">${description}</p>
${entries.map((entry) => operationSection(entry, api))}`,
)}
${errorSections()}
<h2 class="tag" id="schemas">Schemas</h2>
${Object.entries(api.components.schemas).map(
  ([name, schema]) => html`<section class="operation" id="schema-${name}">
<h3>${name}</h3>
${fieldsOf(schema)}
</section>`,
)}`
}

function operationSection(entry: Entry, { servers, components }: Reference): Markup {
  const { operationId, method, path, summary, description, security, responses } = entry
  const scope = security.flatMap((one) => Object.values(one).flat())[0]
  const body = Object.entries(entry.requestBody?.content ?? {})[0]
  const resolve = (schema: Schema): Schema =>
    components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema
  return html`<section class="operation" id="${operationId}">
<h3>${summary}</h3>
<p class="call"><code><b>${method.toUpperCase()}</b> ${path}</code></p>
${(description?.split('\n\n') ?? []).map((text) => html`<p>${prose(text)}</p>`)}
<p class="hint">${scope ? html`Needs an API key with the scope <code>${scope}</code>.` : security.length > 0 ? 'Needs a session of the desk.' : 'Public.'}</p>
${parametersOf(entry.parameters ?? [])}
${
  body &&
  html`<h4>Body <small>${body[0]}${entry.requestBody?.required ? '' : ', optional'}</small></h4>
${fieldsOf(resolve(body[1].schema ?? {}))}`
}
<h4>Example</h4>
<pre tabindex="0"><code>${curlOf(entry, servers[0]?.url ?? '')}</code></pre>
<h4>Answers</h4>
${Object.entries(responses).map(([status, response]) => answerOf(status, response, resolve))}
</section>`
}

function parametersOf(parameters: Parameter[]): Markup | '' {
  if (parameters.length === 0) return ''
  return html`<h4>Parameters</h4>
<dl class="fields">${parameters.map(({ name, in: place, required, schema, description }) =>
    field(name, { ...schema, ...(description && { description }) }, required, place),
  )}</dl>`
}

function answerOf(
  status: string,
  { description, content = {} }: Described['responses'][string],
  resolve: (schema: Schema) => Schema,
): Markup {
  if (Number(status) >= 400)
    return html`<p class="answer"><b>${status}</b> ${withCodes(description)}</p>`
  const [type, shown] = Object.entries(content)[0] ?? []
  const fields = shown?.schema?.properties?.data ?? shown?.schema
  if (!fields)
    return html`<p class="answer"><b>${status}</b> ${prose(description)} ${
      type ? html`<small>${Object.keys(content).join(', ')}</small>` : ''
    }</p>`
  return html`<details>
<summary><b>${status}</b> ${prose(description)}</summary>
${
  shown?.example !== undefined
    ? html`<pre tabindex="0"><code>${JSON.stringify(shown.example, null, 2)}</code></pre>`
    : ''
}
${fieldsOf(resolve(fields))}
</details>`
}

/** @returns Text in which error codes link to their sections. */
function withCodes(text: string): Markup {
  return prose(
    text.replaceAll(/`(\w+)`/g, (name, code) => (errorTarget(code) ? `[${name}](#${code})` : name)),
    (href) => errorTarget(href.slice(1)),
  )
}

/** Shows the members of a schema, or its type if it has none. */
function fieldsOf(schema: Schema): Markup {
  const { properties, required = [], description } = schema
  if (!properties || Object.keys(properties).length === 0)
    return html`<p>${typeOf(schema)}${description ? html`: ${prose(description)}` : ''}</p>`
  return html`<dl class="fields">${Object.entries(properties).map(([name, inner]) =>
    field(name, inner, required.includes(name)),
  )}</dl>`
}

function field(name: string, schema: Schema, required: boolean, place?: string): Markup {
  const { description, properties, items, default: fallback } = schema
  const nested = properties ?? items?.properties
  return html`<div><dt><code>${name}</code>${
    place === undefined || place === 'query' ? '' : html` <small>${place}</small>`
  }</dt>
<dd>${typeOf(schema)}${required ? '' : html`, <em>optional</em>`}${
    fallback === undefined ? '' : html`, else <code>${JSON.stringify(fallback)}</code>`
  }${description ? html`<br>${prose(description)}` : ''}${
    nested ? fieldsOf(properties ? schema : (items ?? {})) : ''
  }</dd></div>`
}

function typeOf(schema: Schema): Markup {
  const { $ref, enum: values, anyOf, items, type, additionalProperties } = schema
  if ($ref) {
    const name = $ref.split('/').at(-1)
    return html`<a href="#schema-${name}">${name}</a>`
  }
  if (values) return html`${joined(values.map((value) => html`<code>${String(value)}</code>`))}`
  if (anyOf) return html`${joined(anyOf.map(typeOf))}`
  if (Array.isArray(type))
    return html`${joined(type.map((one) => typeOf(one === 'null' ? { type: one } : { ...schema, type: one })))}`
  if (items) return html`list of ${typeOf(items)}`
  if (typeof additionalProperties === 'object' && !schema.properties && additionalProperties.type)
    return html`object of ${additionalProperties.type}`
  return html`${type ?? 'anything'}`
}

function joined(parts: readonly Markup[]): Markup[] {
  return parts.map((part, i) => (i === 0 ? part : html` or ${part}`))
}

/** @returns The example as a shell command. */
function curlOf(
  { method, path, security, requestBody, parameters }: Entry,
  baseUrl: string,
): string {
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? []
  const example = content?.example
  const text = typeof example === 'string' ? example : JSON.stringify(example)
  const query = (parameters ?? [])
    .filter((one) => one.in === 'query' && one.required)
    .map(({ name }) => `${name}=…`)
  const address = [`${baseUrl}${path}`, ...(query.length > 0 ? [query.join('&')] : [])].join('?')
  const lines = [
    `curl -sS ${method === 'get' || method === 'post' ? '' : `-X ${method.toUpperCase()} `}'${address}'`,
    ...(security.length > 0 ? ['-H "Authorization: Bearer $API_KEY"'] : []),
    ...(type === undefined
      ? method === 'post'
        ? ['-X POST']
        : []
      : [`-H 'Content-Type: ${type}'`, `-d '${text.replaceAll("'", "'\\''")}'`]),
  ]
  return lines.join(' \\\n  ')
}

/** @returns Where this page explains an error code; `undefined` for a text that is not one. */
function errorTarget(code: string): string | undefined {
  return Object.hasOwn(ERRORS, code) ? `#error-${code}` : undefined
}

/** @returns A general introduction to the error codes, and a section for each. */
function errorSections(): Markup {
  return html`<h2 class="tag" id="errors">Errors</h2>
${ABOUT_ERRORS.map((text) => html`<p>${withoutLinks(text)}</p>`)}
${ERROR_GROUPS.map(({ title, errors }) =>
  Object.entries(errors).map(([code, error]) => errorSection(title, code, error)),
)}`
}

function errorSection(group: string, code: string, error: ApiErrorEntry): Markup {
  const { status, meaning, action } = error
  return html`<section class="operation" id="error-${code}">
<h3><code>${code}</code> <small>${group}</small></h3>
<p>${status}, again: ${prose(againOf(error))}</p>
<p>${withoutLinks(`${meaning} ${action}`)}</p>
</section>`
}

/** Other documents are not served here. */
const withoutLinks = (text: string): Markup => prose(text, () => undefined)
