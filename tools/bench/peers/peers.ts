/** A version of an npm package. */
export type Published = {
  name: string
  version: string
  /** The archive's hash, from `npm view <name>@<version> dist.integrity`: `sha512-` and base64. */
  integrity: string
}

export const OPEN_ATTESTATION: Published = {
  name: '@govtechsg/document-store',
  version: '3.0.0',
  integrity:
    'sha512-RW13l0pCaxfWWuBjKR3he7ddMzz21I6Oh4R9uBN63/IrPq9yummFaEOKQw42izh01ybnoFng88D9uePwarLyhg==',
}

export const EAS: Published = {
  name: '@ethereum-attestation-service/eas-contracts',
  version: '1.9.0',
  integrity:
    'sha512-L60y1fgKlY3a45xxnPlgRbiGQY8RF/lF+AzF1iVoR7/aEzitS0Nuyyjq8+IXs1sSSU0dl2+yGSmELxVeB6FelA==',
}

/** How other projects anchor documents: one or several per transaction. */
export const PEERS = {
  issue: { of: OPEN_ATTESTATION, size: 1 },
  bulkIssue: { of: OPEN_ATTESTATION, size: 200 },
  timestamp: { of: EAS, size: 1 },
  multiTimestamp: { of: EAS, size: 200 },
  attest: { of: EAS, size: 1 },
  // The cap on a transaction's gas (EIP-7825) allows no more.
  multiAttest: { of: EAS, size: 100 },
} as const

export type PeerName = keyof typeof PEERS
