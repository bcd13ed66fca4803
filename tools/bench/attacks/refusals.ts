import { type Attack, client, flood } from './attack.ts'

/** Requests without a key that are refused: paths and methods that nobody serves. */
export const refusals: Attack = {
  name: 'refusals',
  async start({ url }) {
    const send = client(url)
    return flood({ atOnce: 50 }, (number) =>
      number % 2 === 0 ? send('/v1/nothing') : send('/api/documents', { method: 'PUT' }),
    )
  },
}
