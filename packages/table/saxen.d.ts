declare module 'saxen' {
  /** What the parser is asked for here; the package has no types. */
  export class Parser {
    on(
      event: 'openTag',
      handle: (
        name: string,
        attributes: () => Record<string, string>,
        decode: unknown,
        isEmpty: boolean,
      ) => void,
    ): this
    on(event: 'closeTag' | 'text' | 'cdata' | 'attention', handle: (text: string) => unknown): this
    on(event: 'warn', handle: (warning: Error) => void): this
    parse(xml: string): void
  }
}
