import { defineCommand } from '#cli/command.ts'
import { EXIT } from '#cli/exit-codes.ts'
import { printableJson } from '#cli/printable.ts'

export const doctorCommand = defineCommand({
  name: 'doctor',
  group: 'Run',
  summary: 'Say what is wrong with this installation, and what to do',
  about: ['Takes the settings of the gateway. It changes nothing, and may run beside the gateway.'],
  options: {},
  examples: [['Check everything that a start needs', 'docreg-gateway doctor']],
  exitCodes: '0 nothing fails, 1 something fails, 2 could not be checked',
  async run({ values }, { write }) {
    const { examine } = await import('../doctor.ts')
    const findings = await examine(process.env)
    if (values.json) write(printableJson(findings))
    else
      for (const { check, outcome, message, advice } of findings) {
        write(`${outcome.padEnd(4)}  ${check.padEnd(9)}  ${message}`)
        if (advice !== undefined) write(`${' '.repeat(17)}→ ${advice}`)
      }
    return findings.some(({ outcome }) => outcome === 'fail') ? EXIT.wrong : EXIT.ok
  },
})
