import { findPack, PACKS, packCache } from '#certificates/packs.ts'
import { defineCommand } from '#cli/command.ts'
import { EXIT } from '#cli/exit-codes.ts'
import { printableJson } from '#cli/printable.ts'
import { readCertificatePacks } from '#settings/config.ts'

export const certificatesCommand = defineCommand({
  name: 'certificates',
  group: 'Run',
  summary: 'Install the PDF engine and its fonts, so that the service can make certificates',
  about: [
    'Installs with npm, in fixed versions with their hashes, in the folder CERTIFICATE_PACKS, which is by default that of docreg. The service itself installs nothing, and needs no restart.',
  ],
  options: {
    all: { about: 'also the fonts for Chinese, Japanese and Korean, 100 MB more' },
  },
  examples: [['Before the first certificate', 'docreg-gateway certificates']],
  exitCodes: '0 installed, 2 could not be installed',
  async run({ values }, { write, note }) {
    const folder = readCertificatePacks(process.env) ?? packCache({})
    for (const pack of values.all ? PACKS : (['base'] as const)) await findPack(pack, folder, note)
    write(values.json ? printableJson({ folder }) : `installed in ${folder}`)
    return EXIT.ok
  },
})
