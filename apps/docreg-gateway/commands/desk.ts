import { type Command, defineCommand } from '#cli/command.ts'
import { InputError } from '#cli/errors.ts'
import { EXIT } from '#cli/exit-codes.ts'
import { printableJson } from '#cli/printable.ts'
import { ROLES } from '#keys/roles.ts'
import { invitationLinkOf } from '#modules/desk/people/desk.ts'
import { createPeople, personSettings } from '#modules/desk/people/people.ts'
import { createPeopleStore } from '#modules/desk/people/store.ts'
import { readBaseUrl, readModules } from '#settings/config.ts'
import { openKeysOfSettings, parseOptions } from '../keys-of-settings.ts'

/** @throws {ConfigError} when MODULES is wrong. */
async function isDeskOn(): Promise<boolean> {
  // It loads the whole service, which help does not need.
  const { modulesOf } = await import('#modules/all.ts')
  return modulesOf(readModules(process.env)).on.some(({ name }) => name === 'desk')
}

export const deskCommands: readonly Command[] = [
  defineCommand({
    name: 'desk invite',
    group: 'Run',
    summary: 'Add a person, and show the link that signs them in to the desk once',
    options: {
      name: { value: '<text>', about: 'the name, which others see' },
      role: { value: '<role>', choices: ROLES, about: 'what the person may do' },
      tenant: { value: '<name>', about: 'the tenant whose documents the person works with' },
      category: {
        value: '<category>',
        multiple: true,
        about: 'the only categories that the person may issue',
      },
    },
    examples: [
      ['Somebody who issues', 'docreg-gateway desk invite --name "Front desk" --role clerk'],
    ],
    exitCodes: '0 done, 2 could not be done',
    async run({ values }, { write, note }) {
      const { name, role, tenant, category: categories, json } = values
      const settings = parseOptions(
        personSettings,
        {
          ...(name !== undefined && { name }),
          ...(role !== undefined && { role }),
          ...(tenant !== undefined && { tenant }),
          ...(categories && { categories }),
        },
        { categories: 'category' },
      )
      if (!(await isDeskOn()))
        throw new InputError('not_possible', 'the desk is off: name the module desk in MODULES')
      const baseUrl = readBaseUrl(process.env)
      const { database, close } = await openKeysOfSettings()
      try {
        const { person, secret, invitation } = await createPeople(createPeopleStore(database)).add(
          settings,
        )
        const link = invitationLinkOf(baseUrl, secret)
        const { expiresAt } = invitation
        if (json) write(printableJson({ person, invitation: link, expiresAt }))
        else {
          note(`${person.id}, a ${role}; the link works once, until ${expiresAt}:`)
          write(link)
        }
        return EXIT.ok
      } finally {
        await close()
      }
    },
  }),
]
