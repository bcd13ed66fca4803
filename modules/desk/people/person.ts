import { clock } from '#base/clock.ts'
import { Refusal } from '#base/refusal.ts'
import { newId } from '#keys/secret.ts'
import type { Person } from './ports.ts'

export const MAX_PEOPLE = 1_000

export const tooManyPeople = () =>
  new Refusal('too_many_people', `there are already ${MAX_PEOPLE} people`)

/** @returns A new person, who is not stored yet. */
export function newPerson({
  name,
  role,
  tenant,
  categories,
}: Pick<Person, 'name' | 'role' | 'tenant' | 'categories'>): Person {
  const createdAt = new Date(clock.wall()).toISOString()
  return { id: newId(), name, role, tenant, ...(categories && { categories }), createdAt }
}

/**
 * Whoever loses a group at the provider must not come in by another way.
 *
 * @throws {Refusal} `provider_decides` for somebody who signs in with the identity provider.
 */
export function assertOwn({ isFromProvider }: Person): void {
  if (!isFromProvider) return
  throw new Refusal('provider_decides', 'the person signs in with the identity provider')
}
