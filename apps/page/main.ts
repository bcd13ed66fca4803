import { gcm } from '@noble/ciphers/aes.js'
import { createActions } from './actions.ts'
import { parseConfig } from './config.ts'
import { learn, preferredLanguage, useLanguage } from './i18n.ts'
import { listen } from './listen.ts'
import { createScreen } from './screen.ts'
import { createSession, readAddress, readHistory } from './session.ts'
import { createState } from './state.ts'
import { TEXTS } from './strings/all.ts'

useWhatIsNeeded()
supplyAesGcm()
learn(TEXTS)
useLanguage(preferredLanguage())
const config = document.getElementById('config')?.textContent ?? null
const state = createState(parseConfig(config))
const screen = createScreen(state, () => actions)
const session = createSession(state, screen)
const actions = createActions(session)
listen(session, actions)
const reading = readAddress() ?? readHistory()
if (reading) session.attempt(reading)
else session.ask()
// Without this mark, the script behind this one says that the browser is too old. It is so small
// that every browser can read it.
document.body.dataset.started = ''

/** Throws in a browser that lacks something which only a later step would miss. */
function useWhatIsNeeded(): unknown {
  document.createElement('p').replaceChildren()
  AbortSignal.timeout(0)
  return [new DecompressionStream('deflate-raw'), [].at(0), Intl.ListFormat.name]
}

/**
 * Supplies AES-GCM decryption to pages without WebCrypto, which browsers withhold over plain HTTP
 * from another machine, for example on a phone in the same network.
 */
function supplyAesGcm(): void {
  if (globalThis.crypto.subtle !== undefined) return
  const subtle = {
    async importKey(
      _format: 'raw',
      raw: Uint8Array,
      algorithm: object,
      _extractable: boolean,
      usages: string[],
    ) {
      return { algorithm, usages, raw, [Symbol.toStringTag]: 'CryptoKey' }
    },
    async decrypt(
      { iv, additionalData }: { iv: Uint8Array; additionalData: Uint8Array },
      { raw }: { raw: Uint8Array },
      sealed: Uint8Array,
    ) {
      return gcm(raw, iv, additionalData).decrypt(sealed)
    },
  }
  Object.defineProperty(globalThis.crypto, 'subtle', { value: subtle })
}
