import { expect, test } from 'vitest'
import { ar } from '#desk/strings/ar.ts'
import { de } from '#desk/strings/de.ts'
import { en } from '#desk/strings/en.ts'
import { es } from '#desk/strings/es.ts'
import { fr } from '#desk/strings/fr.ts'
import { pt } from '#desk/strings/pt.ts'

const placeholdersIn = (text: string) => text.match(/\{\w+\}/g)?.toSorted() ?? []

test.each(Object.entries({ ar, de, es, fr, pt }))(
  'behavior: every text in %s has the placeholders of the English one',
  (_, texts) => {
    for (const [key, text] of Object.entries(en))
      expect([key, placeholdersIn(texts[key as keyof typeof en])]).toEqual([
        key,
        placeholdersIn(text),
      ])
  },
)
