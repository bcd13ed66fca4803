import { encodePresentation, type Presentation, parsePresentation } from '#document/presentation.ts'
import { decodePresentationLink } from '#document/presentation-link.ts'
import { parseRegistryId, type RegistryId } from '#document/registry-id.ts'
import type { BlockSource, ChainReader, ChainReading, DocumentKey } from '#verifier/ports.ts'
import { verifyPresentation } from '#verifier/presentation.ts'

// Must not import Node modules: it also runs in a browser.

type Found = {
  /** The sealed document at the source; `null` = none. */
  source: string | null
  /** The record's value. */
  validUntil: number
}
type Valid = Found & {
  name: string
  presentation: unknown
  link: string | null
  disclosed: object
}
type Failing = {
  name: string
  code: string
  text?: string
  link?: string
  source?: string | null
  validUntil?: number
  registry?: string
}
/** tools/corpus/vectors/presentations.json */
export type PresentationVectors = {
  registry: string
  cases: Valid[]
  mustFail: Failing[]
}

const utf8 = (text: string) => new TextEncoder().encode(text)

/** A registry in which every document is valid and has this expiry. */
function registryOf(registry: RegistryId, validUntil: number) {
  const asked: DocumentKey[] = []
  const account = {
    account: `0x${'11'.repeat(20)}` as const,
    accountIndex: 1,
    permissions: 1,
    addedBlock: 1,
    changedBlock: 0,
    retiredBlock: 0,
    distrustedFrom: 0,
  }
  const chain: ChainReader = {
    registry,
    async read(key): Promise<ChainReading> {
      asked.push(key)
      return {
        blockNumber: 1,
        blockTime: 1,
        status: 'valid',
        record: {
          accountIndex: 1,
          anchoredBlock: 1,
          anchoredAt: 1,
          validUntil,
          revokerIndex: 0,
          revokedBlock: 0,
          revokedAt: 0,
          reason: 0,
          setAside: false,
        },
        account,
        revoker: null,
        issuer: {
          id: key.issuerId,
          name: '',
          uri: '',
          documentCount: 1,
          batchCount: 0,
          accountCount: 1,
          changedBlock: 1,
          closedBlock: 0,
        },
      }
    },
    issuedEvent: async () => undefined,
    finalityOf: async () => 'included',
    blockTime: async () => 0,
  }
  return { chain, asked }
}

const sourcesOf = (sealed: string | null): BlockSource[] =>
  sealed === null ? [] : [{ get: async () => ({ status: 'found', bytes: utf8(sealed) }) }]

/** @returns The actual and the expected reading of a presentation. */
export async function readingsOf(
  { presentation, link, source, validUntil, disclosed }: Valid,
  { presentations }: { presentations: PresentationVectors },
): Promise<[string, unknown, unknown][]> {
  const { registry } = parseRegistryId(presentations.registry)
  const { chain, asked } = registryOf(registry, validUntil)
  const text = JSON.stringify(presentation)
  const blocks = sourcesOf(source)
  const verdict = await verifyPresentation(text, { chain, blocks, now: 1 })
  const { issuerId, documentHash, batch } = parsePresentation(presentation)
  const [key] = asked
  const found: [string, unknown, unknown][] = [
    ['disclosed', verdict.disclosed, disclosed],
    [
      'asked',
      [key?.issuerId, key?.documentHash, key?.batch?.root ?? null],
      [issuerId, documentHash, batch?.root ?? null],
    ],
  ]
  if (link !== null) {
    const bytes = encodePresentation(await decodePresentationLink(`https://page.example/${link}`))
    const same = encodePresentation(presentation as Presentation)
    found.push(['link', [...bytes], [...same]])
  }
  return found
}

/** @returns The code of its refusal, or of the first deciding check that does not pass. */
export async function refusalOf(one: Failing): Promise<string> {
  const { text = '', link, source = null, validUntil = 0 } = one
  try {
    if (link !== undefined) {
      await decodePresentationLink(`https://page.example/${link}`)
      return 'taken'
    }
    const { chain } = registryOf(one.registry as RegistryId, validUntil)
    const blocks = sourcesOf(source)
    const { checks } = await verifyPresentation(text, { chain, blocks, now: 1 })
    const informing = ['identity', 'dating', 'event']
    const failed = checks.find(
      ({ check, outcome }) => outcome !== 'pass' && !informing.includes(check),
    )
    return failed?.code ?? 'taken'
  } catch (error) {
    return String((error as { code?: string }).code ?? error)
  }
}
