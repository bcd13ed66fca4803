import { expect, test } from 'vitest'
import { TEXTS } from '#desk/strings/all.ts'
import { en } from '#desk/strings/en.ts'

const placeholdersIn = (text: string) => text.match(/\{\w+\}/g)?.toSorted() ?? []

test.each(Object.entries(TEXTS))(
  'every text in %s has the placeholders of the English one',
  (_, texts) => {
    for (const [key, text] of Object.entries(en))
      expect([key, placeholdersIn(texts[key as keyof typeof en])]).toEqual([
        key,
        placeholdersIn(text),
      ])
  },
)
