import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** Processes of one program that answer each line of JSON with a line of JSON. */
export type LinePrograms<Call, Answer> = {
  /** Sends a call to an idle process, and waits for one if there is none. */
  run(call: Call): Promise<Answer>
  stop(): Promise<void>
}

/** @param processes How many calls run at the same time. */
export function startLinePrograms<Call, Answer>(
  file: string,
  args: readonly string[],
  processes: number,
): LinePrograms<Call, Answer> {
  const all = Array.from({ length: processes }, () => startOne(file, args))
  const idle = [...all]
  const waiting: ((one: Program) => void)[] = []

  async function next(): Promise<Program> {
    return idle.pop() ?? new Promise((resolve) => waiting.push(resolve))
  }

  return {
    async run(call) {
      const one = await next()
      try {
        one.child.stdin?.write(`${JSON.stringify(call)}\n`)
        const { value, done } = await one.answers.next()
        if (done) throw new Error(`${file} has ended`)
        return JSON.parse(value)
      } finally {
        const give = waiting.shift()
        if (give) give(one)
        else idle.push(one)
      }
    },
    async stop() {
      await Promise.all(
        all.map(async ({ child }) => {
          if (child.exitCode !== null) return
          const ended = once(child, 'exit')
          child.stdin?.end()
          await ended
        }),
      )
    },
  }
}

type Program = { child: ChildProcess; answers: AsyncIterator<string> }

/** The process has no environment. */
function startOne(file: string, args: readonly string[]): Program {
  const child = spawn(file, args, { env: {}, stdio: ['pipe', 'pipe', 'inherit'] })
  return { child, answers: createInterface(child.stdout)[Symbol.asyncIterator]() }
}
