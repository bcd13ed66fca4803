/** The exit codes of every command; docs/verify.md and docs/operate.md have them. */
export const EXIT = {
  /** The document is valid; or the command has done its work, and nothing is wrong. */
  ok: 0,
  /** The document is not valid; or something differs, is missing or would fail. */
  wrong: 1,
  /** It could not be done, or looked at: the document could not be checked. Never "not valid". */
  failed: 2,
  /** `EX_USAGE` of sysexits.h: nothing was read or requested. */
  usage: 64,
  /** `EX_DATAERR`: the input of the command is wrong. The same one fails again. */
  badInput: 65,
  /** `EX_SOFTWARE`. Node's own code for it is 1, which here means that something is wrong. */
  bug: 70,
} as const
