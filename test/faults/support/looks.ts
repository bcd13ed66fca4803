import type { Random } from '../../support/random.ts'
import { isNotFound, listsUnissued, servesErased } from './changes.ts'
import { falseVerdict } from './false-verdict.ts'
import type { Wish } from './wish.ts'
import type { World } from './world.ts'

/** What clients saw during a run. */
export type Found = {
  /** The number of verdicts. */
  verdicts: number
  /** The number of `valid` ones for documents that were not on the chain, suspended or revoked. */
  falseValid: number
  /** The number of searches by subjectId for promised documents. */
  searches: number
  /** The number of these searches that did not find the document. */
  notFound: number
  /** The number of erased documents that were served. */
  servedEarly: number
  /** The number of lists that show a document as valid that was not on the chain. */
  falselyListed: number
}

/** Clients that only read. */
export type Looks = {
  /** Reads a random document in one of the ways that clients have. */
  lookAtSome(): Promise<void>
  found(): Found
}

export function createLooks(
  world: Pick<World, 'client' | 'ledger' | 'chain'>,
  random: Random,
): Looks {
  const { client } = world
  const found: Found = {
    verdicts: 0,
    falseValid: 0,
    searches: 0,
    notFound: 0,
    servedEarly: 0,
    falselyListed: 0,
  }
  const ways = [
    async (wish: Wish) => {
      const isFalse = await falseVerdict(world, wish)
      if (isFalse !== undefined) found.verdicts++
      if (isFalse) found.falseValid++
    },
    async (wish: Wish) => {
      const isMissing = await isNotFound(client, wish)
      if (isMissing !== undefined) found.searches++
      if (isMissing) found.notFound++
    },
    async (wish: Wish) => {
      if (await servesErased(client, wish)) found.servedEarly++
    },
    async () => {
      if (await listsUnissued(world)) found.falselyListed++
    },
  ] as const

  return {
    async lookAtSome() {
      const wish = client.wishes[random.below(client.wishes.length)]
      if (wish) await random.pick(ways)(wish)
    },
    found: () => found,
  }
}
