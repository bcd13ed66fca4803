/** The exit codes of the command; docs/verify.md, "Exit codes". */
export const EXIT = {
  /** The document is valid; or the command has made its file. */
  ok: 0,
  notValid: 1,
  /** The document could not be checked, or the input yields no publicId. Never "not valid". */
  noVerdict: 2,
  /** `EX_USAGE` of sysexits.h: nothing was read or requested. */
  usage: 64,
  /** `EX_DATAERR`: the input of a registrar's command is wrong. The same one fails again. */
  badInput: 65,
  /** `EX_SOFTWARE`. Node's own code for it is 1, which here means "not valid". */
  bug: 70,
} as const
