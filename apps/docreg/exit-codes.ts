/** The exit codes of every command, which docs/verify.md and docs/operate.md list. */
export const EXIT = {
  /** The document is valid, or the command has done its work and nothing is wrong. */
  ok: 0,
  /** The document is not valid, or something differs, is missing or would fail. */
  wrong: 1,
  /** It could not be done or checked. This never means "not valid". */
  failed: 2,
  /** `EX_USAGE` of sysexits.h: nothing was read or requested. */
  usage: 64,
  /** `EX_DATAERR`: the input of the command is wrong, and would fail again. */
  badInput: 65,
  /**
   * `EX_SOFTWARE`: a bug. Node's own code for it is 1, which here means that something is wrong.
   */
  bug: 70,
} as const
