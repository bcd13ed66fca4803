import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Wallet } from 'ethers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DOCREG_GATEWAY } from '../../support/docreg.ts'
import { gatewayProcess } from '../../support/gateway-process.ts'
import { ADA, API_KEY } from '../../support/given.ts'
import { freePort } from '../../support/http.ts'
import { type RemoteIssuer, startRemoteIssuer } from '../../support/remote-issuer.ts'
import { PERMISSION, transact } from '../../support/transact.ts'

// A chain that others run can remove the block in which a document was issued again.

/** The newest final block is twice as far behind the head. */
const FINALITY = 16
const PATIENCE = 120_000

let folder: string
let issuer: RemoteIssuer
let env: Record<string, string>

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'document-registry-'))
  issuer = await startRemoteIssuer(folder, [], FINALITY)
  const { provider, registry, keys } = issuer
  const files = { PORT: `${await freePort()}`, DATA_DIR: join(folder, 'data') }
  const gateway = gatewayProcess({ ...issuer.env, ...files, ISSUER_KEY: keys.issuer })
  await gateway.start()
  const { status } = await fetch(`${gateway.url}/v1/documents`, {
    method: 'POST',
    body: JSON.stringify(ADA),
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
  })
  expect(status).toBe(201)
  await gateway.stop()
  const next = await issuer.fundedKey()
  const [stolen, added] = [keys.issuer, next].map((key) => new Wallet(key).address)
  await transact(provider, registry, keys.manager, 'distrustFrom', [1, stolen, 1])
  await transact(provider, registry, keys.manager, 'addAccount', [1, added, PERMISSION.issue])
  env = { ...issuer.env, ...files, ISSUER_KEY: next }
}, PATIENCE)
afterAll(async () => {
  await issuer?.anvil.kill()
  rmSync(folder, { recursive: true, force: true })
})

const makeFinal = () => issuer.anvil.request('anvil_mine', `0x${(3 * FINALITY).toString(16)}`)

/** Starts the command. @returns Its output so far, and what expects an exit status in the end. */
function issueAgain(...args: string[]) {
  const child = spawn(process.execPath, [DOCREG_GATEWAY, 'issue-again', '--send', ...args], {
    env,
    stdio: 'pipe',
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  const ended = once(child, 'close').then(([code]) => code as number)
  const endsWith = async (code: number) => expect(await ended, output).toBe(code)
  const says = (text: string) => expect.poll(() => output).toContain(text)
  return { endsWith, says, output: () => output }
}

test(
  'sends again what a reorg removed, and succeeds only once it is final',
  async () => {
    await makeFinal()
    const snapshot = await issuer.anvil.request('evm_snapshot')
    const hasty = issueAgain('--no-wait')
    await hasty.endsWith(1)
    expect(hasty.output()).toContain('issued      1 document in block')
    expect(hasty.output()).toContain('Not final')

    const patient = issueAgain()
    await patient.says('waiting')
    expect(patient.output()).toContain('distrusted  0 documents, 0 batches')
    await issuer.anvil.request('evm_revert', snapshot)
    await makeFinal()
    await patient.says('removed     1 document, 0 batches by a reorg')
    await patient.says('issued      1 document in block')
    await makeFinal()
    await patient.says('in final blocks')
    await patient.endsWith(0)
  },
  PATIENCE,
)
