import { rmSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { baseFonts } from '../../support/base-fonts.ts'
import { docregGateway } from '../../support/docreg.ts'

test('docreg-gateway certificates says which scripts have fonts, and which have none', async () => {
  const folder = await baseFonts()
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const env = { CERTIFICATE_PACKS: folder }
  const said = await docregGateway(['certificates'], { env })
  expect(said).toMatchObject({ code: 0, stderr: '' })
  expect(said.stdout.split('\n').slice(0, 3)).toEqual([
    `installed in ${folder}`,
    'covered      Latin, Greek, Cyrillic, Arabic, Hebrew, Devanagari, Bengali, Tamil, Thai',
    'not covered  Chinese, traditional Chinese, Japanese, Korean: docreg-gateway certificates --all installs them',
  ])
  const { stdout } = await docregGateway(['certificates', '--json'], { env })
  expect(JSON.parse(stdout)).toMatchObject({
    folder,
    notCovered: ['Chinese', 'traditional Chinese', 'Japanese', 'Korean'],
  })
})
