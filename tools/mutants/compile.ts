/** Keeps the pinned compiler in this process, because loading it takes longer than using it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import solc from 'solc'

const root = join(import.meta.dirname, '../..')

interface Output {
  readonly errors?: readonly { readonly severity: string }[]
  readonly sources?: Readonly<Record<string, { readonly ast: unknown }>>
  readonly contracts?: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly evm: Readonly<
              Record<'bytecode' | 'deployedBytecode', { readonly object: string }>
            >
          }
        >
      >
    >
  >
}

/**
 * Compiles the project with other content in one of its files, with these `settings` of the
 * compiler.
 */
export function compile(
  entry: string,
  changed: Readonly<Record<string, string>>,
  settings: unknown,
): Output {
  const read = (path: string): string =>
    changed[path] ??
    readFileSync(join(root, path.startsWith('@') ? `node_modules/${path}` : path), 'utf8')
  const input = {
    language: 'Solidity',
    sources: { [entry]: { content: read(entry) } },
    settings,
  }
  return JSON.parse(
    solc.compile(JSON.stringify(input), {
      import: (path: string) => ({ contents: read(path) }),
    }),
  ) as Output
}
