import { qrSvg } from '#certificates/qr-code.ts'
import { TEST_NETWORK } from '#verifier/network.ts'
import { type CommandInput, defineCommand, type Options } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { connect, GATEWAY_OPTIONS } from '../gateway.ts'
import { printableJson } from '../printable.ts'
import { writePrivately } from '../private-file.ts'
import { wholeNumber } from '../sources.ts'
import { readTargets, TARGET_ARGUMENT } from '../targets.ts'
import type { Terminal } from '../terminal.ts'

const OPTIONS = {
  ...GATEWAY_OPTIONS,
  'tx-code': { about: 'the holder must type a code, which you send another way' },
  uses: { value: '<number>', about: 'how many wallets may use it; default 1' },
  minutes: { value: '<number>', about: 'how long it may be used; default 10' },
  iss: {
    value: '<form>',
    choices: ['https', 'did:web'],
    about: 'how the credential names its issuer; default as suits the key of the service',
  },
  qr: { value: '<file.svg>', about: 'write a QR code for the wallet' },
} as const satisfies Options

export const walletOfferCommand = defineCommand({
  name: 'wallet-offer',
  group: 'Issue',
  summary: 'Offer a document to a wallet for credentials',
  about: [
    'The holder opens the link with a wallet for OpenID4VCI, or scans the QR code with it. Whoever has the link can fetch the document, until it is used or over.',
  ],
  args: [{ ...TARGET_ARGUMENT, name: '<document>' }],
  options: OPTIONS,
  examples: [
    ['A link', 'docreg wallet-offer letter.png'],
    [
      'A QR code for three days, with a code to type',
      'docreg wallet-offer letter.png --minutes 4320 --tx-code --qr offer.svg',
    ],
  ],
  exitCodes: '0 offered, 2 could not be offered, 65 wrong input',
  run: offer,
})

async function offer(
  { args, values }: CommandInput<typeof OPTIONS>,
  terminal: Terminal,
): Promise<number> {
  const { uses, minutes, iss, qr } = values
  const body = {
    ...(values['tx-code'] && { txCode: true }),
    ...(uses !== undefined && { uses: wholeNumber('uses', uses, 1) }),
    ...(minutes !== undefined && { expiresIn: 60 * wholeNumber('minutes', minutes, 1) }),
    ...(iss !== undefined && { iss }),
  }
  const [target] = await readTargets({ args, values })
  const { client } = connect(values)
  const offered = await client.offerDocument({ path: { publicId: target?.id ?? '' }, body })
  const { link, txCode, expiresAt } = offered
  if (qr !== undefined) await writePrivately(qr, qrSvg(link, { ecc: 'low', border: 4 }))
  if (offered.network === 'test') terminal.warn(TEST_NETWORK)
  if (values.json) {
    terminal.write(printableJson(offered))
    return EXIT.ok
  }
  terminal.write(link)
  if (txCode !== undefined) terminal.write(`code to type: ${txCode}`)
  terminal.write(`until ${expiresAt}`)
  return EXIT.ok
}
