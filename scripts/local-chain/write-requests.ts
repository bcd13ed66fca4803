import { answerOf, type Call, errorFor, quantityOf, requestFor, resultFor, textOf } from './rpc.ts'
import type { Writer } from './writer.ts'

const MOST_BLOCKS = 1_000
/** Seconds of the Unix epoch. The registry keeps times in 40 bits, and a clock does not go back. */
const MAX_TIME = 2 ** 40 - 1
const INVALID_PARAMS = -32602
const BYTES = /^0x([0-9a-f]{2})*$/i
const ADDRESS = /^0x[0-9a-f]{40}$/i
const AMOUNT = /^0x[0-9a-f]{1,64}$/i

type Answered = Buffer | string

const paramsOf = ({ params }: Call): unknown[] => (Array.isArray(params) ? params : [])

const invalid = (call: Call, message: string): string =>
  errorFor(call, { code: INVALID_PARAMS, message })

const tooLate = (call: Call): string =>
  invalid(call, `${call.method} goes beyond ${MAX_TIME}, the last time there is`)

const sendRaw = async (writer: Writer, call: Call): Promise<Answered> => {
  const [raw, ...more] = paramsOf(call)
  // In no other form, although Anvil takes some: the journal has transactions in this one.
  if (typeof raw !== 'string' || !BYTES.test(raw) || more.length > 0)
    return invalid(
      call,
      `${call.method} takes the bytes of a signed transaction: 0x and hexadecimal digits`,
    )
  return writer.transact(raw, textOf(call))
}

/** Signed first, so that the journal holds bytes and not a wish, whose gas and nonce a replay could fill in another way. */
const sendSigned = (writer: Writer, call: Call): Promise<Answered> =>
  writer.submit(async (make) => {
    const signed = await writer.anvil.post(requestFor('eth_signTransaction', call.params, call.id))
    const { result, error } = answerOf(signed)
    if (error !== undefined) return signed
    const params = [result]
    const { answers } = await make({ method: 'eth_sendRawTransaction', params }, [
      requestFor('eth_sendRawTransaction', params, call.id),
    ])
    return answers[0] ?? ''
  })

const sendSync = async (writer: Writer, call: Call): Promise<Answered> => {
  const params = paramsOf(call).slice(0, 1)
  const sent = await sendRaw(writer, {
    ...call,
    method: 'eth_sendRawTransaction',
    params,
  })
  const { result: hash, error } = answerOf(sent)
  if (error !== undefined) return sent
  const receipt = await writer.anvil.post(requestFor('eth_getTransactionReceipt', [hash], call.id))
  // EIP-7966: 4 says that the transaction was accepted and is in no block yet.
  return answerOf(receipt).result === null
    ? errorFor(call, {
        code: 4,
        message: 'the transaction waits for an earlier nonce',
        data: hash,
      })
    : receipt
}

const mineOne = (writer: Writer, call: Call): Promise<Answered> =>
  writer.submit(async (make) => {
    const [wanted] = paramsOf(call)
    const now = writer.now
    const at = wanted === undefined ? now : quantityOf(wanted)
    if (at === undefined)
      return invalid(call, 'evm_mine takes no parameter here, or a time in seconds')
    if (at < writer.notBefore)
      return invalid(call, `Timestamp error: ${at} is lower than previous block's timestamp`)
    if (at > MAX_TIME) return tooLate(call)
    const offset = wanted === undefined ? writer.offset : writer.offset + at - now
    await make({ method: 'evm_mine', params: [1, 0], at, offset })
    return resultFor(call, '0x0')
  })

const mineMany = (writer: Writer, call: Call): Promise<Answered> => {
  const [blocks = 1, seconds = 0] = paramsOf(call)
  const count = quantityOf(blocks)
  const interval = quantityOf(seconds)
  if (count === undefined || interval === undefined || count > MOST_BLOCKS) {
    return Promise.resolve(
      invalid(
        call,
        `${call.method} takes a number of blocks (at most ${MOST_BLOCKS}) and the seconds between them`,
      ),
    )
  }
  return writer.submit(async (make) => {
    const duration = Math.max(0, count - 1) * interval
    if (writer.now + duration > MAX_TIME) return tooLate(call)
    const offset = writer.offset + duration
    if (count > 0) await make({ method: 'evm_mine', params: [count, interval], offset })
    return resultFor(call, null)
  })
}

const increaseTime = (writer: Writer, call: Call): Promise<Answered> => {
  const seconds = quantityOf(paramsOf(call)[0])
  if (seconds === undefined)
    return Promise.resolve(invalid(call, 'evm_increaseTime takes a number of seconds'))
  return writer.submit(async (make) => {
    if (writer.now + seconds > MAX_TIME) return tooLate(call)
    const offset = writer.offset + seconds
    await make({ method: 'evm_increaseTime', params: [seconds], offset })
    return resultFor(call, offset)
  })
}

const isAmount = (wei: unknown): boolean =>
  (typeof wei === 'string' && AMOUNT.test(wei)) || quantityOf(wei) !== undefined

const setBalance = (writer: Writer, call: Call): Promise<Answered> => {
  const [address, wei, ...more] = paramsOf(call)
  if (typeof address !== 'string' || !ADDRESS.test(address) || !isAmount(wei) || more.length > 0)
    return Promise.resolve(invalid(call, `${call.method} takes an address and an amount in wei`))
  const method = 'anvil_setBalance'
  const params = [address, wei]
  return writer.submit(async (make) => {
    const bodies = [requestFor(method, params, call.id)]
    return (await make({ method, params }, bodies)).answers[0] ?? ''
  })
}

type Handler = (writer: Writer, call: Call) => Promise<Answered>

/** The methods that change the chain and are remembered. Every other method that is not a read (methods.ts) is refused. */
export const WRITES: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['eth_sendRawTransaction', sendRaw],
  ['eth_sendRawTransactionSync', sendSync],
  ['eth_sendTransaction', sendSigned],
  ['evm_mine', mineOne],
  ['anvil_mine', mineMany],
  ['hardhat_mine', mineMany],
  ['evm_increaseTime', increaseTime],
  ['anvil_setBalance', setBalance],
  ['hardhat_setBalance', setBalance],
])
