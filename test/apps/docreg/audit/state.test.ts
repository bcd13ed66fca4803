import { expect, test } from 'vitest'
import { readIssuerState } from '#cli/audit/state.ts'
import type { Hex } from '#document/hex.ts'
import { slotsOfIssuer } from '#verifier/proof/slots.ts'
import type { SlotProver } from '#verifier/readers/slot-prover.ts'

test('refuses a name longer than a registry allows without reading all of it', async () => {
  const words = new Map([[slotsOfIssuer(1).name, 2n ** 208n + 1n]])
  const prover = {
    async prove(slots: readonly Hex[], take: (word: bigint, i: number) => void) {
      slots.forEach((slot, i) => void take(words.get(slot) ?? 0n, i))
    },
  } as SlotProver
  await expect(readIssuerState(prover, 1)).rejects.toMatchObject({ code: 'no_registry' })
})
