/** An example: its page, and a text that only this block of the page contains. */
export type Example = {
  page: string
  has: string
  prints?: RegExp
  /** Names of the files that it writes. */
  writes?: string[]
  /** Values for later examples, read from its output, by name. */
  gives?: Record<string, RegExp>
  /** Runs until it is stopped; ready once its output matches this. */
  serves?: true
  /** Whether this machine has the tools that it needs besides Node. */
  needs?: 'cast' | 'python'
}

/** Examples that run against a real service, in this order. */
export const RUN: Example[] = [
  {
    page: 'README.md',
    has: '/v1/documents \\',
    prints: /"success":true.*"status":"valid"/,
    gives: {
      publicId: /"publicId":"([^"]+)"/,
      registry: /"registry":"([^"]+)"/,
      documentHash: /"documentHash":"([^"]+)"/,
    },
  },
  {
    page: 'docs/integrate.md',
    has: 'curl -sSi',
    prints: /201 Created[\s\S]*"status":"valid"/,
    gives: { toRevoke: /"publicId":"([^"]+)"/ },
  },
  {
    page: 'docs/integrate.md',
    has: '/v1/documents/$publicId" -H',
    prints: /"subjectName":"Ada Lovelace".*"blockchainProof":\{/,
  },
  {
    page: 'docs/integrate.md',
    has: '/v1/verify?publicId=',
    prints: /"valid":true,"status":"valid"/,
  },
  { page: 'docs/integrate.md', has: '/bundle" \\', writes: ['document-bundle.json'] },
  { page: 'docs/integrate.md', has: '/qr/$publicId', writes: ['code.png'] },
  {
    page: 'docs/integrate.md',
    has: '/v1/events',
    prints: /"type":"document.issued".*"hasMore":false/,
  },
  {
    page: 'docs/integrate.md',
    has: '/v1/documents?category=',
    prints: /"documents":\[\{"publicId".*"nextCursor":null/,
  },
  {
    page: 'docs/integrate.md',
    has: '/v1/documents/search',
    prints: /"documents":\[\{"publicId".*"subjectId":"18151210"/,
  },
  {
    page: 'docs/integrate.md',
    has: '/v1/batches -T',
    prints: /"line":1,"success":true,"data":\{"publicId".*"batchRoot":"0x/,
    gives: { root: /"batchRoot":"(0x\w+)"/, inBatch: /"documentHash":"(0x\w+)"/ },
  },
  {
    page: 'docs/integrate.md',
    has: 'docreg-gateway keys',
    prints: /drk_[\s\S]*documents:read[\s\S]*drk_[\s\S]*revoked/,
  },
  {
    page: 'docs/integrate.md',
    has: 'v1/kinds/language_course',
    prints: /"success":true.*"version":1/,
  },
  { page: 'docs/integrate.md', has: '"label":"Front desk"', prints: /"success":true.*drk_/ },
  { page: 'docs/verify.md', has: 'docreg verify - ', prints: /^VALID/m },
  { page: 'docs/verify.md', has: 'curl --compressed', writes: ['verify.html'] },
  {
    page: 'docs/verify.md',
    has: 'docreg present',
    prints: /subjectName[\s\S]*https:\/\/registry\.example\/verify#presentation=/,
    writes: ['shown.json', 'shown.svg'],
  },
  { page: 'docs/verify.md', has: 'docreg bundle', writes: ['bundle.json'] },
  { page: 'docs/verify.md', has: 'docreg verify bundle.json', prints: /^VALID/m },
  {
    page: 'docs/verify.md',
    has: 'tools/examples/verify.py',
    prints: /"valid": ?true/,
    needs: 'python',
  },
  {
    page: 'docs/audit.md',
    has: 'list-documents.mjs',
    prints: /^complete: \d+ of \d+ documents/m,
  },
  {
    page: 'docs/audit.md',
    has: 'list-documents.sh',
    prints: /^complete: \d+ of \d+ documents/m,
    needs: 'cast',
  },
  { page: 'docs/audit.md', has: 'cast call', prints: /Local test issuer/, needs: 'cast' },
  {
    page: 'docs/audit.md',
    has: '--proof proof.json',
    prints: /^COMPLETE: 2 of 2 documents, 1 of 1 batches/m,
    writes: ['proof.json'],
    gives: { blockNumber: /as of block (\d+)/ },
  },
  { page: 'docs/audit.md', has: '--check proof.json', prints: /^COMPLETE: 2 of 2 documents/m },
  { page: 'docs/audit.md', has: 'docreg recount', prints: /^COMPLETE/m },
  {
    page: 'docs/audit.md',
    has: 'docreg audit --issuer',
    prints: /^COMPLETE, PROVEN: The list has 2 of 2 documents and 1 of 1 batches/m,
    writes: ['audit/report.html', 'audit/documents.csv'],
  },
  {
    page: 'docs/audit.md',
    has: '--out list.ndjson',
    prints: /^COMPLETE: 2 of 2 documents, 1 of 1 batches/m,
    writes: ['list.ndjson'],
    gives: { exportedBlock: /, (0x\w{64})$/m },
  },
  { page: 'docs/audit.md', has: '--check list.ndjson', prints: /^COMPLETE: 2 of 2 documents/m },
  {
    page: 'docs/integrate.md',
    has: '/offer" \\',
    prints: /"link":"openid-credential-offer:.*"txCode":"\d{6}"/,
  },
  { page: 'docs/operate.md', has: 'docreg-gateway doctor', prints: /^ok +service /m },
  { page: 'docs/operate.md', has: 'desk invite', prints: /\/desk#invitation=dri_/ },
  { page: 'docs/operate.md', has: 'docreg-gateway fsck', prints: /^nothing differs/m },
  { page: 'docs/contract.md', has: 'revoke-in-batch', prints: /0x\w{64}/ },
  { page: 'docs/operate.md', has: '--domain example.edu', writes: ['did.json'] },
  { page: 'docs/operate.md', has: 'docreg identity check', prints: /pass/ },
  { page: 'docs/operate.md', has: '-out credential.pem', writes: ['credential.pem'] },
  {
    page: 'docs/integrate.md',
    has: '/suspend" \\',
    prints: /"status":"suspended"[\s\S]*"status":"valid".*"releasedAt"/,
  },
  {
    page: 'docs/integrate.md',
    has: '/supersede" \\',
    prints: /"supersedes":"0x\w{64}".*"superseded":\{.*"status":"superseded"/,
  },
  {
    page: 'docs/integrate.md',
    has: '/v1/revocations \\',
    prints: /"line":1,"success":true.*"status":"superseded"/,
  },
  {
    page: 'docs/integrate.md',
    has: '/revoke" \\',
    prints: /"status":"revoked","reason":"keyCompromise"/,
  },
  {
    page: 'docs/integrate.md',
    has: '/v1/batches/$root/revoke',
    prints: /"size":\d+[\s\S]*"status":"revoked","reason":"cessationOfOperation"/,
  },
  { page: 'docs/integrate.md', has: '/payload" \\', prints: /"status":"erased"/ },
  {
    page: 'docs/integrate.md',
    has: '/v1/runs?mode=single',
    prints: /"success":true.*"mode":"single".*"size":1/,
  },
  {
    page: 'docs/registrar.md',
    has: 'docreg demo',
    prints: /VALID[\s\S]*NOT VALID: revoked[\s\S]*Usage: docreg/,
  },
  {
    page: 'docs/registrar.md',
    has: 'docreg template',
    prints: /1 row, all good[\s\S]*Issued 1 document,/,
    writes: ['issued/issued.csv', 'issued/qr'],
  },
  {
    page: 'docs/registrar.md',
    has: '--map "Full name=subjectName"',
    prints: /Issued 2 documents/,
    writes: ['diplomas/issued.csv'],
  },
  {
    page: 'docs/registrar.md',
    has: 'docreg documents',
    prints: /valid .*diploma[\s\S]*subjectName +Ada Lovelace/,
  },
  {
    page: 'docs/registrar.md',
    has: '--where metadata.degree=bsc',
    prints: /^Ada Lovelace .*0x\w{64} .*issued\.csv:2$/m,
    writes: ['found.csv'],
  },
  {
    page: 'docs/registrar.md',
    has: 'docreg suspend',
    prints: /Suspended[\s\S]*Released/,
  },
  {
    page: 'docs/registrar.md',
    has: 'docreg supersede',
    prints: /Superseded/,
    writes: ['corrected.csv'],
  },
  { page: 'docs/registrar.md', has: 'docreg revoke --from issued', prints: /Revoked/ },
  {
    page: 'docs/registrar.md',
    has: 'wrong/issued.csv',
    prints: /Revoked[\s\S]*Issued 1 document/,
    writes: ['right/issued.csv'],
  },
  { page: 'docs/operate.md', has: 'docreg-gateway backup', writes: ['backups/monday', 'restored'] },
  { page: 'docs/operate.md', has: 'PORT=3001', prints: /is ready at/, serves: true },
  { page: 'docs/verify.md', has: 'HOST=0.0.0.0', prints: /is ready at/, serves: true },
]

/** Examples that do not run, and why. */
export const NOT_RUN: { page: string; has: string; because: string }[] = [
  {
    page: 'docs/registrar.md',
    has: 'docreg certificate --from',
    because: 'it installs 75 MB; test/apps/docreg/commands/certificate.test.ts prints some',
  },
  {
    page: 'docs/registrar.md',
    has: '--new-template',
    because: 'test/packages/certificates/print.test.ts copies a template',
  },
  {
    page: 'docs/integrate.md',
    has: '/v1/webhooks',
    because: 'its receiver does not exist; test/modules/webhooks/routes.test.ts creates some',
  },
  {
    page: 'docs/integrate.md',
    has: '/v1/certificates?template=',
    because: 'it needs the engine; test/modules/certificates/routes.test.ts prints some',
  },
  {
    page: 'README.md',
    has: 'git clone',
    because: 'it installs everything anew; test/apps/docreg-gateway/start.test.ts runs npm start',
  },
  { page: 'CONTRIBUTING.md', has: 'npm test', because: 'this test is part of it' },
  { page: 'CONTRIBUTING.md', has: 'biome check', because: 'it formats the checkout' },
  {
    page: 'docs/contract.md',
    has: 'docreg registry deploy',
    because: 'it needs funds on Sepolia; test/contracts/deployment.test.ts deploys on Anvil',
  },
  {
    page: 'docs/operate.md',
    has: 'pg_dump --dbname',
    because:
      'it needs PostgreSQL; test/apps/docreg-gateway/restore-postgres.test.ts runs the commands',
  },
  {
    page: 'docs/operate.md',
    has: 'docreg-gateway move',
    because:
      'it needs PostgreSQL; test/apps/docreg-gateway/move/service.test.ts moves there and back',
  },
  {
    page: 'docs/operate.md',
    has: 'docreg-gateway reindex',
    because:
      'the service has to be stopped for it; test/apps/docreg-gateway/reindex.test.ts runs it',
  },
  {
    page: 'docs/operate.md',
    has: 'docreg-gateway recover',
    because:
      'it needs a chain that outlives a gateway; test/apps/docreg-gateway/recover.test.ts runs it',
  },
  {
    page: 'docs/operate.md',
    has: 'ipfs init',
    because:
      'it changes the Kubo of this user; test/packages/anchoring/kubo/kubo.test.ts runs on Kubo',
  },
  {
    page: 'docs/verify.md',
    has: 'node scripts/run.mjs scripts/build-page.ts',
    because:
      'it writes dist/, which other tests read; test/apps/page/elsewhere.test.ts builds pages',
  },
  {
    page: 'docs/verify.md',
    has: 'npm install --global docreg',
    because: 'it needs npm; test/scripts/published.test.ts installs the package',
  },
  {
    page: 'docs/verify.md',
    has: '--install-links',
    because: 'it installs for the whole machine; test/scripts/published.test.ts does this',
  },
  { page: 'scripts/release/README.md', has: 'npm publish', because: 'it publishes' },
  {
    page: 'scripts/release/README.md',
    has: 'diff SHA256SUMS',
    because: 'it needs a published release; test/scripts/release.test.ts compares two',
  },
  {
    page: 'tools/corpus/README.md',
    has: 'run.py',
    because: 'it takes two minutes; test/tools/corpus/served.test.ts runs it',
  },
  { page: 'test/faults/README.md', has: 'vitest run', because: 'npm test runs these' },
  { page: 'test/faults/README.md', has: 'npm run faults', because: 'it takes an hour' },
  { page: 'test/faults/README.md', has: 'slow-blocks.ts', because: 'it takes three minutes' },
  { page: 'test/faults/README.md', has: 'shared-long-run.ts', because: 'it takes half an hour' },
  {
    page: 'test/faults/README.md',
    has: 'fast-blocks.ts',
    because: 'it measures throughput, and takes every core for a while',
  },
]
