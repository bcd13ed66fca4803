import { type TransactionLike, Wallet } from 'ethers'
import type { Hex } from '#document/hex.ts'
import { bodyOf, serveHttp, type TestServer } from '../../support/http.ts'

/** The remote signer to imitate: its method names and the form of its results. */
export type Dialect = 'web3signer' | 'geth' | 'clef'

/** A JSON-RPC server that holds one key and signs with it. */
export type SignerServer = TestServer & {
  /** Rewrites the transaction to sign. */
  change: (transaction: TransactionLike) => TransactionLike
  /** Rewrites the answer; `undefined` cuts the connection. */
  answer: (raw: string) => unknown
}

export async function startSignerServer(key: Hex, dialect: Dialect): Promise<SignerServer> {
  const wallet = new Wallet(key)
  const behaviour: Pick<SignerServer, 'change' | 'answer'> = {
    change: (transaction) => transaction,
    answer: (raw) => (dialect === 'web3signer' ? raw : { raw, tx: {} }),
  }
  const methods: Record<string, (params: Rpc[]) => unknown> = {
    [dialect === 'clef' ? 'account_list' : 'eth_accounts']: () => [wallet.address.toLowerCase()],
    [dialect === 'clef' ? 'account_signTransaction' : 'eth_signTransaction']: async ([
      asked = {},
    ]) => behaviour.answer(await wallet.signTransaction(behaviour.change(fromRpc(asked)))),
  }
  const server = await serveHttp(async (request, response) => {
    const { id, method, params } = JSON.parse(await bodyOf(request))
    const handle = methods[method]
    const result = handle && (await handle(params))
    if (handle && result === undefined) {
      response.destroy()
      return
    }
    const error = { code: -32601, message: `no method ${method}` }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        jsonrpc: '2.0',
        id,
        ...(handle ? { result } : { error }),
      }),
    )
  })
  return Object.assign(behaviour, server)
}

type Rpc = Record<string, string>

function fromRpc({ from, gas, ...rest }: Rpc): TransactionLike {
  return {
    ...rest,
    type: 2,
    from: from ?? null,
    nonce: Number(rest.nonce),
    gasLimit: gas ?? null,
  }
}
