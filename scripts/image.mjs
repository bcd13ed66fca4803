#!/usr/bin/env node
// `docreg-gateway …` in the image, where the set-up is done and `node` is the pinned one.
import { fileURLToPath } from 'node:url'
import { START_FLAGS } from './start-flags.mjs'

const [node, , ...args] = process.argv
const isStart = args[0] === 'start'
if (isStart && !process.env.RPC_URL) {
  console.error('cannot start:\n  RPC_URL is required: the image has no local chain')
  process.exit(1)
}
const flags = isStart ? START_FLAGS : []
const program = fileURLToPath(new URL('../apps/docreg-gateway/docreg-gateway.ts', import.meta.url))
process.execve(node, [node, ...flags, program, ...args])
