// node scripts/run.mjs [<option of Node> …] [<script> <argument> …]
//
// Does the set-up, then runs the script on the pinned Node. Without a script: the set-up alone.
import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { binaries, setUp } from './bootstrap.mjs'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2']

setUp()
const [, , ...args] = process.argv
if (args.length > 0) run(join(binaries, 'node'), args)

/**
 * Replaces this process with the script's if Node can (`process.execve`), so that signals, exit
 * codes and kills are those of the script. An older Node starts a child and forwards signals.
 */
function run(node, args) {
  const env = { ...process.env, PATH: binaries + delimiter + process.env.PATH }
  if (process.execve) process.execve(node, [node, ...args], env)
  // Listens before the script starts. A busy machine may run the script first, and a signal that
  // answers to its output would end only this process.
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal))
  const child = spawn(node, args, { stdio: 'inherit', env })
  child.on('error', (error) => {
    console.error(`set-up: ${error.message}`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    if (signal === null) {
      process.exitCode = code
    } else {
      process.removeAllListeners(signal)
      process.kill(process.pid, signal)
    }
  })
}
