// Writes docs/errors.md from the table of error codes. Committed, and checked for freshness in CI.
import { writeFileSync } from 'node:fs'
import { errorsPage } from './errors-page.ts'

writeFileSync(new URL('../docs/errors.md', import.meta.url), errorsPage())
