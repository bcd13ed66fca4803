import { formatEther } from 'ethers'
import { createRegistry } from '#chain/registry.ts'
import { pinBlock } from '#cli/audit/run.ts'
import { readIssuerState } from '#cli/audit/state.ts'
import type { Identity } from '#parts/chain.ts'
import type { Config } from '#settings/config.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'
import { createRequest } from '#verifier/readers/request.ts'
import { readQuantity } from '#verifier/readers/rpc-codec.ts'
import { createSlotProver } from '#verifier/readers/slot-prover.ts'
import { type Finding, fail, ok, reasonOf, warn } from './finding.ts'

/** The bit of the permission MANAGE. */
const MANAGE = 4

/** Checks what the account may do and can pay, and what the registry says about the issuer. */
export async function checkAccount(config: Config, identity: Identity): Promise<Finding[]> {
  const { rpc, registry, issuerId, signer } = identity
  const findings: Finding[] = []
  try {
    const { account } = await createRegistry(rpc, { registry, issuerId, signer })
    const { balance, mayIssue, mayRevoke } = await account.assertReady()
    const coins = `${signer.address} holds ${formatEther(balance)} of the chain's coin`
    findings.push(
      balance < config.lowBalance
        ? warn('balance', coins, 'send it more, or lower LOW_BALANCE_ETHER')
        : ok('balance', coins),
      mayIssue
        ? ok('account', `${signer.address} may issue for issuer ${issuerId}`)
        : fail(
            'account',
            `issuer ${issuerId} is closed`,
            'ask the admin of the registry to reopen it',
          ),
    )
    if (!mayRevoke)
      findings.push(
        warn(
          'account',
          'the account may not revoke',
          'give it the permission REVOKE, or revoke with another account',
        ),
      )
  } catch (error) {
    findings.push(
      fail(
        'account',
        reasonOf(error),
        'add the account with docreg registry roles add-account, or send it funds',
      ),
    )
  }
  return [...findings, ...(await checkIssuer(identity))]
}

async function checkIssuer({ rpc, registry, issuerId, signer }: Identity): Promise<Finding[]> {
  try {
    const request = createRequest(rpc)
    const newest = readQuantity(await request('eth_blockNumber', []))
    const header = await pinBlock(request, registry, newest)
    const { address } = parseRegistry(registry)
    const prover = createSlotProver({ request, address, header })
    const { issuer, accounts, proposal } = await readIssuerState(prover, issuerId)
    const own = [...accounts.values()].find(
      ({ account }) => account === signer.address.toLowerCase(),
    )
    const isManager = ((own?.permissions ?? 0) & MANAGE) !== 0
    return [
      ok(
        'issuer',
        `issuer ${issuerId} is "${issuer.name}", with ${issuer.documentCount} documents`,
      ),
      ...(isManager
        ? [
            warn(
              'account',
              'the account of the gateway may manage the issuer',
              'keep MANAGE on a cold key or a multi-signature wallet',
            ),
          ]
        : []),
      ...(proposal
        ? [
            fail(
              'recovery',
              `the admin proposes ${proposal.account} for this issuer`,
              'if that is unexpected, run docreg registry roles veto-proposal',
            ),
          ]
        : []),
    ]
  } catch (error) {
    return [
      warn(
        'issuer',
        `the issuer cannot be read with proofs: ${reasonOf(error)}`,
        'choose a node that supports eth_getProof',
      ),
    ]
  }
}
