import { COVERED, findPack, isInstalled, PACKS, packCache } from '#certificates/packs.ts'
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
    'Prints which scripts have fonts, and which have none.',
  ],
  options: {
    all: { about: 'also the fonts for Chinese, Japanese and Korean, 100 MB more' },
  },
  examples: [['Before the first certificate', 'docreg-gateway certificates']],
  exitCodes: '0 installed, 2 could not be installed',
  async run({ values }, { write, note }) {
    const folder = readCertificatePacks(process.env) ?? packCache({})
    for (const pack of values.all ? PACKS : (['base'] as const)) await findPack(pack, folder, note)
    const scripts = (isThere: boolean) =>
      PACKS.filter((pack) => isInstalled(pack, folder) === isThere).flatMap((pack) => COVERED[pack])
    const [covered, notCovered] = [scripts(true), scripts(false)]
    if (values.json) write(printableJson({ folder, covered, notCovered }))
    else {
      write(`installed in ${folder}`)
      write(`covered      ${covered.join(', ')}`)
      if (notCovered.length > 0)
        write(
          `not covered  ${notCovered.join(', ')}: docreg-gateway certificates --all installs them`,
        )
      write('Other scripts need a font of your own, in the folder fonts of each template.')
    }
    return EXIT.ok
  },
})
