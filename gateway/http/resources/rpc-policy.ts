import { FunctionFragment } from 'ethers/abi'
import * as v from 'valibot'
import { registryAbi } from '#base/registry-abi.ts'

/**
 * A JSON-RPC request that may be sent to the node. It contains only the values that the policy has
 * parsed, and nothing else of the input.
 */
export type Permitted = { method: string; params: unknown[] }

const quantity = v.pipe(v.string(), v.regex(/^0x(0|[1-9a-f][0-9a-f]{0,15})$/))
const hash = v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{64}$/))
const block = v.union([
  v.picklist(['latest', 'safe', 'finalized', 'earliest']),
  quantity,
  v.strictObject({
    blockHash: hash,
    requireCanonical: v.optional(v.boolean()),
  }),
])
const VIEWS = new Set(
  registryAbi.fragments
    .filter((fragment) => fragment instanceof FunctionFragment)
    .filter((fragment) => fragment.constant)
    .map(({ selector }) => selector),
)
/**
 * Calls to views of the registry: a selector, and arguments up to the length of a Merkle proof.
 * Calls to functions that write are refused, because nobody needs to simulate them here and they
 * cost the node more.
 */
const callData = v.pipe(
  v.string(),
  v.regex(/^0x([0-9a-fA-F]{2}){4,4096}$/),
  v.check((data) => VIEWS.has(data.slice(0, 10).toLowerCase())),
)
/**
 * The maximum number of slots in one proof. A verdict needs at most 29: 7, plus 8 for an issuer's
 * name of 200 bytes and 14 for a URI of 400. The answer has a few KB for each slot.
 */
const MAX_SLOTS = 32

/**
 * Permits what a reader of the registry needs, but nothing that writes, scans or traces, or
 * concerns another contract.
 *
 * @param address The address of the registry, in lower case.
 * @returns A function that parses method and params. It returns `unknown` for a method that is not
 * on the list, and `undefined` for params that are not permitted.
 */
export function createRpcPolicy(
  address: string,
): (method: string, params: unknown) => Permitted | 'unknown' | undefined {
  const registry = v.pipe(v.string(), v.toLowerCase(), v.literal(address))
  const filter = {
    address: v.union([registry, v.strictTuple([registry])]),
    topics: v.optional(
      v.pipe(
        v.array(v.nullable(v.union([hash, v.pipe(v.array(hash), v.maxLength(4))]))),
        v.maxLength(4),
      ),
    ),
  }
  const oneBlock = v.pipe(
    v.strictObject({ ...filter, fromBlock: quantity, toBlock: quantity }),
    v.check(({ fromBlock, toBlock }) => fromBlock === toBlock),
  )
  const methods: Record<string, v.GenericSchema<unknown, unknown[]>> = {
    eth_chainId: v.strictTuple([]),
    eth_blockNumber: v.strictTuple([]),
    eth_getBlockByNumber: v.strictTuple([block, v.literal(false)]),
    eth_getBlockByHash: v.strictTuple([hash, v.literal(false)]),
    eth_call: v.strictTuple([v.strictObject({ to: registry, data: callData }), block]),
    // Needed for chains whose headers have fields that the reader does not know.
    debug_getRawHeader: v.strictTuple([quantity]),
    eth_getCode: v.strictTuple([registry, block]),
    eth_getLogs: v.strictTuple([
      v.union([oneBlock, v.strictObject({ ...filter, blockHash: hash })]),
    ]),
    eth_getProof: v.strictTuple([
      registry,
      v.pipe(v.array(v.union([hash, quantity])), v.maxLength(MAX_SLOTS)),
      block,
    ]),
  }
  return (method, params) => {
    const schema = Object.hasOwn(methods, method) ? methods[method] : undefined
    if (schema === undefined) return 'unknown'
    const result = v.safeParse(schema, params)
    return result.success ? { method, params: result.output } : undefined
  }
}
