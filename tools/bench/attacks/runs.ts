import type { Attack, Target } from './attack.ts'

/** The runs that one key may have at a time. */
const RUNS_A_KEY = 5
/** More than are issued while the times are measured. */
const ROWS = 10_000

/** Lets the service issue as many documents as the keys of one tenant may have it issue. */
export const runs: Attack = {
  name: 'runs',
  async start({ url, keys }) {
    for (const key of keys)
      for (let run = 0; run < RUNS_A_KEY; run++) await begin(url, key, `${run}`)
    return async () => {}
  },
}

async function begin(url: Target['url'], key: string, run: string): Promise<void> {
  const rows = Array.from({ length: ROWS }, (_, i) => {
    const document = { subjectName: 'Ada Lovelace', subjectId: `${i}`, category: 'diploma' }
    return JSON.stringify({ ...document, issuedAt: '2026-01-31', metadata: { run } })
  })
  const response = await fetch(`${url}/v1/runs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' },
    body: rows.join('\n'),
  })
  if (!response.ok) throw new Error(`a run was answered with ${response.status}`)
}
