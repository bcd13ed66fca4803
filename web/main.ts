import { createActions } from './actions.ts'
import { parseConfig } from './config.ts'
import { preferredLanguage, useLanguage } from './i18n.ts'
import { supplyAesGcm } from './insecure-crypto.ts'
import { listen } from './listen.ts'
import { createScreen } from './screen.ts'
import { createSession, readAddress, readHistory } from './session.ts'
import { createState } from './state.ts'

supplyAesGcm()
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
