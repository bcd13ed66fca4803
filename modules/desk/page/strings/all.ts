import type { DeskLanguage } from '../i18n.ts'
import { ar } from './ar.ts'
import { de } from './de.ts'
import { en, type Texts } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { pt } from './pt.ts'

/** The texts of every language, of which the desk loads those that its reader chooses. */
export const TEXTS: Record<DeskLanguage, Texts> = { en, de, fr, es, pt, ar }
