import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import { required, temporaryFolder } from '../../faults/support/machine.ts'
import { pythonWith } from '../../tools/examples/python.ts'

const VECTORS = new URL('../../../tools/corpus/vectors/', import.meta.url).pathname
const python = required(await pythonWith(join(VECTORS, 'requirements.txt')))
const run = (...args: string[]) => promisify(execFile)(python ?? '', args)

describe.skipIf(python === undefined)('the vectors', () => {
  test('are what generate.py makes', async () => {
    const { dir, remove } = temporaryFolder()
    try {
      await run(join(VECTORS, 'generate.py'), dir)
      for (const file of ['documents', 'batches', 'must-fail', 'presentations']) {
        const [made, committed] = [dir, VECTORS].map((folder) =>
          JSON.parse(readFileSync(join(folder, `${file}.json`), 'utf8')),
        )
        expect(made).toEqual(committed)
      }
    } finally {
      remove()
    }
  })

  test('the package sd-jwt reads their disclosures', async () => {
    const { stdout } = await run(join(VECTORS, 'sd_jwt_reads.py'))
    expect(JSON.parse(stdout)).toEqual(
      golden.documents.map(({ document }) => {
        const { registry, issuerId, metadata = {}, ...fields } = document
        const none = { registry, issuerId, metadata: {} }
        return {
          all: { registry, issuerId, metadata, ...fields },
          fields: { ...none, ...fields },
          none,
        }
      }),
    )
  })
})
