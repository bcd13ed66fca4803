import { expect, test } from 'vitest'
import { hasWords, plain, wordsIn } from '#table/words.ts'

const isFound = (name: string, text: string) => hasWords(plain(name), wordsIn(text))

test.each([
  ['Zoë Łukasz', 'lukasz zoe'],
  ['Jürgen Müller', 'mueller'],
  ['Jürgen Müller', 'muller'],
  ['Juergen Mueller', 'Müller'],
  ['Mu\u0308ller', 'Müller'],
  ['Søren Åberg', 'soeren aaberg'],
  ['Søren Åberg', 'soren aberg'],
  ['Guðrún Þórsdóttir', 'thorsdottir gudrun'],
  ['Straße', 'strasse'],
  ['مـحـمـد', 'محمد'],
  ['محمد', 'مـحمد'],
  ['שָׁלוֹם', 'שלום'],
  ['בן־דוד', 'בן-דוד'],
  ['山田 太郎', '山田太郎'],
  ['山田\u3000太郎', '太郎 山田'],
  ['山田太郎', '山田 太郎'],
  ['김 철수', '김철수'],
  ['\u202aAna\u202c Test', 'ana'],
])('finds %s by %s', (name, text) => {
  expect(isFound(name, text)).toBe(true)
})

test.each([
  ['Jolanda', 'joel'],
  ['Johanna', 'anna'],
  ['Muller', 'mueller'],
  ['山本太郎', '山田 太郎'],
  ['Ada', 'ada lovelace'],
])('does not find %s by %s', (name, text) => {
  expect(isFound(name, text)).toBe(false)
})
