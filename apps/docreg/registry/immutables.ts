/** The places in deployed code that the constructor fills in, in the form of an artifact. */
export type ImmutableReferences = Readonly<
  Record<string, readonly { readonly start: number; readonly length: number }[]>
>

export function withoutImmutables(code: string, references: ImmutableReferences): string {
  const bytes = Buffer.from(code.slice(2), 'hex')
  for (const { start, length } of Object.values(references).flat()) {
    bytes.fill(0, Math.min(start, bytes.length), Math.min(start + length, bytes.length))
  }
  return `0x${bytes.toString('hex')}`
}
