import fc, { type AsyncCommand } from 'fast-check'
import { expect, test } from 'vitest'
import type { RevocationReason } from '#verifier/reasons.ts'
import { randomFaults } from '../support/fault-proxy.ts'
import { freshSeed, seededRandom } from '../support/random.ts'
import { falseVerdict } from './support/false-verdict.ts'
import { NOTHING_WRONG } from './support/oracle.ts'
import { loseUnsaved, reorg } from './support/rewrite.ts'
import { promisesOf, type Wish } from './support/wish.ts'
import { type AnvilWorld, startAnvilWorld } from './support/world.ts'

// Arbitrary sequences of client requests, kills, faults and reorgs. fast-check chooses them, and
// shrinks one that fails.

/** The model: the idempotency keys used so far, and whether the gateway was killed. */
type Model = { running: boolean; wishes: number; keys: Set<number> }
type Command = AsyncCommand<Model, Real>
/** Requests continue while later commands run. */
type Real = {
  world: AnvilWorld
  wishes: Promise<Wish>[]
  keyed: Map<number, Wish>
}

const always = () => true

class Issue implements Command {
  readonly respondAsync: boolean
  constructor(respondAsync: boolean) {
    this.respondAsync = respondAsync
  }
  check = always
  async run(model: Model, { world, wishes }: Real) {
    model.wishes++
    wishes.push(world.client.issue({ respondAsync: this.respondAsync }))
  }
  toString = () => `issue(${this.respondAsync ? 'async' : ''})`
}

/** Issues a new document the first time, and repeats that request from then on. */
class IssueWithKey implements Command {
  readonly key: number
  constructor(key: number) {
    this.key = key
  }
  check = always
  async run(model: Model, { world, keyed }: Real) {
    model.keys.add(this.key)
    const wish = keyed.get(this.key)
    if (wish) await world.client.repeat(wish)
    else keyed.set(this.key, await world.client.issue({ idempotencyKey: `key-${this.key}` }))
    expect(promisesOf(keyed.get(this.key) as Wish).length).toBeLessThan(2)
  }
  toString = () => `issueWithKey(${this.key})`
}

class Verify implements Command {
  readonly which: number
  constructor(which: number) {
    this.which = which
  }
  check = ({ wishes }: Readonly<Model>) => wishes > 0
  async run(_: Model, { world }: Real) {
    const { wishes } = world.client
    const wish = wishes[this.which % wishes.length]
    expect(wish && (await falseVerdict(world, wish))).not.toBe(true)
  }
  toString = () => `verify(${this.which})`
}

/** Revokes a document for one reason, or for two at once; one is first. */
class Revoke implements Command {
  readonly which: number
  readonly reasons: readonly RevocationReason[]
  constructor(which: number, reasons: readonly RevocationReason[]) {
    this.which = which
    this.reasons = reasons
  }
  check = ({ wishes }: Readonly<Model>) => wishes > 0
  async run(_: Model, { world }: Real) {
    const { wishes } = world.client
    const wish = wishes[this.which % wishes.length]
    if (wish && promisesOf(wish).length > 0)
      await Promise.all(this.reasons.map((reason) => world.client.revoke(wish, { reason })))
  }
  toString = () => `revoke(${this.which}, ${this.reasons})`
}

class Kill implements Command {
  check = ({ running }: Readonly<Model>) => running
  async run(model: Model, { world }: Real) {
    await world.gateway.kill()
    model.running = false
  }
  toString = () => 'kill'
}

class Restart implements Command {
  check = ({ running }: Readonly<Model>) => !running
  async run(model: Model, { world }: Real) {
    world.proxy.heal() // A gateway does not start while its node fails.
    await world.gateway.start()
    model.running = true
  }
  toString = () => 'restart'
}

class Faults implements Command {
  readonly seed: number
  constructor(seed: number) {
    this.seed = seed
  }
  check = always
  async run(_: Model, { world }: Real) {
    world.proxy.fault = randomFaults(seededRandom(this.seed), 0.2)
  }
  toString = () => `faults(${this.seed})`
}

class Heal implements Command {
  check = always
  async run(_: Model, { world }: Real) {
    world.proxy.heal()
  }
  toString = () => 'heal'
}

class Reorg implements Command {
  readonly depth: number
  constructor(depth: number) {
    this.depth = depth
  }
  check = always
  async run(_: Model, { world, wishes }: Real) {
    await Promise.all(wishes)
    await reorg(world, this.depth)
  }
  toString = () => `reorg(${this.depth})`
}

class LoseUnsaved implements Command {
  check = always
  async run(_: Model, { world, wishes }: Real) {
    await Promise.all(wishes)
    await loseUnsaved(world)
  }
  toString = () => 'loseUnsaved'
}

const commands = fc.commands(
  [
    fc.boolean().map((respondAsync) => new Issue(respondAsync)),
    fc.nat(3).map((key) => new IssueWithKey(key)),
    fc.nat(100).map((which) => new Verify(which)),
    fc
      .tuple(
        fc.nat(100),
        fc.subarray<RevocationReason>(['keyCompromise', 'superseded'], { minLength: 1 }),
      )
      .map(([which, reasons]) => new Revoke(which, reasons)),
    fc.constant(new Kill()),
    fc.constant(new Restart()),
    fc.nat(2 ** 31).map((seed) => new Faults(seed)),
    fc.constant(new Heal()),
    fc.integer({ min: 1, max: 5 }).map((depth) => new Reorg(depth)),
    fc.constant(new LoseUnsaved()),
  ],
  { maxCommands: 20, size: 'max' },
)

async function run(sequence: Iterable<Command>): Promise<void> {
  const world = await startAnvilWorld({ WAIT_SECONDS: '1' })
  try {
    await world.chain.save()
    await world.settle()
    const real: Real = { world, wishes: [], keyed: new Map() }
    const model = { running: true, wishes: 0, keys: new Set<number>() }
    await fc.asyncModelRun(() => ({ model, real }), sequence)
    await Promise.all(real.wishes)
    await world.settle()
    expect(await world.judge()).toMatchObject(NOTHING_WRONG)
  } finally {
    await world.close()
  }
}

test('survives any sequence of requests, verdicts, kills, faults and reorgs', async () => {
  await fc.assert(fc.asyncProperty(commands, run), {
    seed: freshSeed() | 0,
    numRuns: 3,
    // Each run takes seconds: do not shrink a failing sequence.
    endOnFailure: true,
  })
})
