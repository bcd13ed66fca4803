import { defineCommand } from '#cli/command.ts'
import { EXIT } from '#cli/exit-codes.ts'
import { printableJson } from '#cli/printable.ts'

const DIRECTIONS = {
  'to-postgres': 'Copy DATA_DIR to the empty database of DATABASE_URL',
  'to-sqlite': 'Copy the database of DATABASE_URL to an empty DATA_DIR',
} as const

export const moveCommands = Object.entries(DIRECTIONS).map(([direction, summary]) =>
  defineCommand({
    name: `move ${direction}`,
    group: 'Back up',
    summary,
    about: [
      'Takes the settings of the gateway, with both DATA_DIR and DATABASE_URL. It compares the copy with the original, and the original with the chain. No gateway starts with the original again.',
    ],
    options: {},
    examples: [['With every gateway stopped', `docreg-gateway move ${direction}`]],
    exitCodes: '0 moved, 2 nothing was moved',
    async run({ values }, { write, note }) {
      const { move } = await import('../move/move.ts')
      const moved = await move(direction as keyof typeof DIRECTIONS, values.json ? note : write)
      if (values.json) write(printableJson({ moved: direction, ...moved }))
      return EXIT.ok
    },
  }),
)
