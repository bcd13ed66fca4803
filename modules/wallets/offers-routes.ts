import * as v from 'valibot'
import { mayIssue } from '#document/new-document.ts'
import { decodePublicId } from '#document/public-id.ts'
import { succeed } from '#http/core/envelope.ts'
import { ApiError, unverifiable } from '#http/core/errors.ts'
import { operation, resource } from '#http/core/operation.ts'
import { chargeCost } from '#http/core/rate-limits.ts'
import { parseBody, readJson, readOptionalJson } from '#http/core/request.ts'
import { OFFER_COST, OFFER_ERRORS } from '#http/core/wallet-offers.ts'
import { publicIdOf } from '#http/resources/document-path.ts'
import { instant } from '#http/resources/present.ts'
import * as schemas from '#http/resources/schemas.ts'
import { ownerOf, tenantOf } from '#keys/grant.ts'
import { whole } from '#keys/settings.ts'
import { IssueError } from '#promise/errors.ts'
import type { Naming } from './credential.ts'
import type { OfferDeps, WalletDeps } from './deps.ts'
import type { Held } from './held.ts'
import type { OfferTerms } from './wallets.ts'

const MINUTE = 60
const YEAR = 366 * 86_400
/** An offer that nobody described further. */
const PLAIN: OfferTerms = { uses: 1, seconds: 10 * MINUTE, withTxCode: false }

const terms = v.strictObject({
  txCode: v.exactOptional(
    v.pipe(
      v.boolean('must be true or false'),
      v.description('Whether the holder must type a code. The answer has it; send it another way.'),
    ),
  ),
  uses: v.exactOptional(
    v.pipe(whole(1, 1_000), v.description('How many wallets may use it; 1 by default.')),
  ),
  iss: v.exactOptional(
    v.pipe(
      v.picklist(['https', 'did:web'], 'must be https or did:web'),
      v.description(
        'How the credential names its issuer, because some wallets know only one way; `https` by default where the key has a certificate, else `did:web`.',
      ),
    ),
  ),
  expiresIn: v.exactOptional(
    v.pipe(
      whole(MINUTE, 10 * YEAR),
      v.description('How long it may be used, in seconds; 600 by default.'),
    ),
  ),
})

const credentialOffer = v.object({
  credential_issuer: v.string(),
  credential_configuration_ids: v.array(v.string()),
  grants: v.record(v.string(), v.unknown()),
})
const offer = v.object({
  link: v.pipe(
    v.string(),
    v.description('Opens a wallet; also what a QR code for wallets holds. It is a secret.'),
  ),
  offerUrl: v.pipe(schemas.url, v.description('Where the wallet fetches the offer.')),
  offer: v.pipe(credentialOffer, v.description('The same offer by value.')),
  txCode: v.exactOptional(v.pipe(v.string(), v.description('What the holder must type.'))),
  expiresAt: schemas.instant,
  network: schemas.network,
})
const answer = { status: 201, description: 'The offer.', data: offer }

const OFFER = operation({
  operationId: 'offerDocument',
  route: 'POST /v1/documents/:publicId/offer',
  tag: 'Documents',
  summary: 'Offer a document to a wallet',
  description:
    'The holder opens the link with a wallet for OpenID4VCI, which fetches the document as an SD-JWT VC. The offer ends when the key or person who made it may not issue the category for its tenant any more.',
  scope: 'documents:issue',
  parameters: { publicId: schemas.documentName },
  body: { schema: terms, example: { txCode: true }, isOptional: true },
  answer,
  errors: [...OFFER_ERRORS, 'category_not_allowed', 'not_found', 'erased', 'store_unavailable'],
})

const held = v.strictObject({ publicId: v.string('must be a string'), iss: terms.entries.iss })
const HOLDER_OFFER = operation({
  operationId: 'offerToHolder',
  route: 'POST /wallets/offers',
  tag: 'Wallets',
  summary: 'Ask for an offer, with the publicId alone',
  description: 'For whoever holds the document. One wallet may use it within ten minutes.',
  scope: 'public',
  anyOrigin: true,
  body: { schema: held, example: { publicId: schemas.EXAMPLE_PUBLIC_ID } },
  answer,
  errors: [...OFFER_ERRORS, 'bad_public_id', 'erased'],
})

const READ_OFFER = operation({
  operationId: 'readOffer',
  route: 'GET /wallets/offers/:code',
  tag: 'Wallets',
  summary: 'Retrieve an offer by reference',
  description: 'Wallets read it; see `credential_offer_uri` of OpenID4VCI.',
  parameters: { code: v.string() },
  scope: 'public',
  answer: { description: 'The offer.', content: { 'application/json': credentialOffer } },
  errors: ['no_offers'],
})

/** Serves offers of documents to wallets. */
export const offerRoutes = resource<WalletDeps>(
  [OFFER, HOLDER_OFFER, READ_OFFER],
  (serve, deps) => {
    const { newDeadline, wallets } = deps

    serve(OFFER, async (c) => {
      const { txCode, uses, expiresIn, iss } = parseBody(terms, await readOptionalJson(c))
      const text = c.req.param('publicId')
      const grant = c.get('grant')
      const publicId = await publicIdOf(deps, grant, text, newDeadline())
      const asked: OfferTerms = {
        uses: uses ?? PLAIN.uses,
        seconds: expiresIn ?? PLAIN.seconds,
        withTxCode: txCode ?? PLAIN.withTxCode,
        ...(iss && { naming: iss }),
        by: { owner: ownerOf(grant), tenant: tenantOf(grant) },
      }
      return succeed(c, OFFER, await makeOffer(deps, publicId, asked, grant.categories))
    })

    serve(HOLDER_OFFER, async (c) => {
      await chargeCost(c, OFFER_COST)
      const { publicId, iss } = parseBody(held, await readJson(c))
      return succeed(c, HOLDER_OFFER, await offerToHolder(deps, publicId, iss))
    })

    serve(READ_OFFER, async (c) => {
      const found = await wallets?.readOffer(c.req.param('code'))
      if (!found) throw noOffers('no such offer, or it is over')
      return c.json(found)
    })
  },
)

/** @returns An offer for whoever holds a publicId. @throws As {@link makeOffer}. */
export async function offerToHolder(deps: OfferDeps, publicId: string, naming?: Naming) {
  if (!deps.offersToHolders) throw noOffers('only API keys make offers here')
  return makeOffer(deps, publicId, { ...PLAIN, ...(naming && { naming }) })
}

/**
 * @param categories The only ones that may be offered; absent = all.
 * @throws {ApiError} `no_offers`, `category_not_allowed`, `not_valid`, `erased`, `unverifiable`
 * @throws {IssueError} `other_issuer`
 */
async function makeOffer(
  { wallets, readHeld, addresses }: OfferDeps,
  publicId: string,
  asked: OfferTerms,
  categories?: readonly string[],
): Promise<v.InferOutput<typeof offer>> {
  if (!wallets) throw noOffers('this service puts no documents into wallets')
  const { issuerId } = decodePublicId(publicId)
  if (issuerId !== addresses.issuerId)
    throw new IssueError('other_issuer', `a document of issuer ${issuerId}`)
  const valid = validOf(await readHeld(publicId))
  if (!mayIssue(valid.document, categories))
    throw new ApiError('category_not_allowed', 'the API key may not issue this category')
  const { code, expiresAt, ...rest } = await wallets.offer(publicId, valid, asked)
  const offerUrl = `${addresses.baseUrl}/wallets/offers/${code}`
  return {
    link: `openid-credential-offer://?credential_offer_uri=${encodeURIComponent(offerUrl)}`,
    offerUrl,
    offer: (await wallets.readOffer(code)) as v.InferOutput<typeof credentialOffer>,
    ...rest,
    expiresAt: instant(expiresAt) as string,
    network: addresses.network,
  }
}

function validOf(held: Held): Extract<Held, { status: 'valid' }> {
  if (held.status === 'valid') return held
  if (held.status === 'unverifiable') throw unverifiable(held.checks)
  if (held.status === 'erased') throw new ApiError('erased', 'the document has been erased')
  throw new ApiError('not_valid', `the document is ${held.status}`)
}

const noOffers = (message: string) => new ApiError('no_offers', message)
