// `npm run test:long` runs in full the tests that an ordinary run shortens.
import { globSync } from 'node:fs'
import { defineConfig, mergeConfig } from 'vitest/config'
import { modulesOf } from '#test/support/imports.ts'
import everything from './vitest.config.ts'

const include = globSync('test/**/*.test.ts').filter((path) =>
  modulesOf(path).has('test/support/long.ts'),
)

export default mergeConfig(
  { ...everything, test: { ...everything.test, include: [] } },
  defineConfig({ test: { include, env: { TEST_LONG: 'true' } } }),
)
