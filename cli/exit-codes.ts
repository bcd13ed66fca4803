/** The exit codes of the command; docs/verify.md, "Exit codes". */
export const EXIT = {
  /** The document is valid; or a command that makes something has made it. */
  ok: 0,
  notValid: 1,
  /** It could not be checked, or the input leads to no publicId. Never "not valid". */
  noVerdict: 2,
  /** `EX_USAGE` of sysexits.h: nothing was read or asked of anybody. */
  usage: 64,
  /** `EX_SOFTWARE`. Node's own code for it is 1, which here means "not valid". */
  bug: 70,
} as const
