import * as v from 'valibot'
import { cidOf, hashOfCid } from '#document/cid.ts'
import { ApiError } from '../core/errors.ts'
import { operation, resource } from '../core/operation.ts'

const RAW = 'application/vnd.ipld.raw'

const BLOCK = operation({
  operationId: 'retrieveBlock',
  route: 'GET /ipfs/:cid',
  tag: 'Public',
  summary: 'Retrieve a sealed block',
  description:
    'Returns ciphertext like a [trustless gateway](https://specs.ipfs.tech/http-gateways/trustless-gateway/), so the reader checks its hash.',
  parameters: {
    cid: v.pipe(
      v.string(),
      v.metadata({
        pattern:
          '^(bafkrei[a-h][a-z2-7]{50}[aeimquy4]|k[0-9a-z]{1,99}|z[1-9A-HJ-NP-Za-km-z]{1,99})$',
        description:
          'A CIDv1 with the codec raw and the hash sha2-256, in base32, base36 or base58btc.',
      }),
    ),
  },
  scope: 'public',
  anyOrigin: true,
  query: {
    format: v.exactOptional(
      v.pipe(
        v.literal('raw'),
        v.description('An alternative to `Accept: application/vnd.ipld.raw`.'),
      ),
    ),
  },
  headers: {
    accept: v.exactOptional(v.string()),
    'if-none-match': v.exactOptional(v.string()),
  },
  responses: {
    200: { description: 'The sealed bytes.', content: { [RAW]: null } },
    304: { description: 'The client already has the bytes.' },
  },
  errors: ['bad_cid', 'not_found', 'not_acceptable', 'erased', 'store_unavailable'],
})

/** This route is public because a block is ciphertext. */
export const ipfsRoutes = resource([BLOCK], (serve, { store }) => {
  serve(BLOCK, async (c) => {
    const hash = parseCid(c.req.param('cid'))
    const wantsRaw =
      c.req.query('format') === 'raw' ||
      (c.req.query('format') === undefined &&
        (c.req.header('accept') ?? '').toLowerCase().includes(RAW))
    if (!wantsRaw)
      throw new ApiError(
        'not_acceptable',
        `only raw blocks are served: send ?format=raw or Accept: ${RAW}`,
      )
    const etag = `"${cidOf(hash)}.raw"`
    const block = await store.get(hash)
    if (block.status === 'erased') throw new ApiError('erased', 'the block has been erased')
    if (block.status === 'missing')
      throw new ApiError('not_found', 'this gateway has no such block')
    const headers = {
      ETag: etag,
      'Cache-Control': 'public, max-age=29030400, immutable',
      'X-Content-Type-Options': 'nosniff',
    }
    if (c.req.header('if-none-match')?.includes(etag)) return c.body(null, 304, headers)
    return c.body(new Uint8Array(block.bytes), 200, {
      ...headers,
      'Content-Type': RAW,
      'Content-Disposition': `attachment; filename="${cidOf(hash)}.bin"`,
    })
  })
})

function parseCid(cid: string): Uint8Array {
  try {
    return hashOfCid(cid)
  } catch (cause) {
    throw new ApiError(
      'bad_cid',
      'the CID must be version 1, with the codec raw and the hash sha2-256',
      { cause },
    )
  }
}
