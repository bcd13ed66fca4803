/**
 * The account that makes a call: the current or next admin, the proposed account, or the account of
 * the issuer that `--as` names.
 */
export type Actor = 'admin' | 'next admin' | 'proposed account' | 'account'

type Action = readonly [actor: Actor, method: string, usage: string]

/**
 * For each action, the account that makes the call, the function of the registry, and its
 * arguments.
 */
export const ACTIONS: Readonly<Record<string, Action>> = {
  'register-issuer': ['admin', 'registerIssuer', '<account> <name> <uri>'],
  'update-issuer': ['admin', 'updateIssuer', '<issuerId> <name> <uri>'],
  'close-issuer': ['admin', 'closeIssuer', '<issuerId>'],
  'reopen-issuer': ['admin', 'reopenIssuer', '<issuerId>'],
  'propose-account': ['admin', 'proposeAccount', '<issuerId> <account>'],
  'withdraw-proposal': ['admin', 'withdrawProposal', '<issuerId>'],
  'begin-admin-transfer': ['admin', 'beginDefaultAdminTransfer', '<account>'],
  'cancel-admin-transfer': ['admin', 'cancelDefaultAdminTransfer', ''],
  'accept-admin-transfer': ['next admin', 'acceptDefaultAdminTransfer', ''],
  'accept-proposal': ['proposed account', 'acceptProposal', '<issuerId>'],
  'veto-proposal': ['account', 'vetoProposal', '<issuerId>'],
  'add-account': ['account', 'addAccount', '<issuerId> <account> <permissions>'],
  'set-permissions': ['account', 'setPermissions', '<issuerId> <account> <permissions>'],
  'retire-account': ['account', 'retireAccount', '<issuerId> <account>'],
  'distrust-account': ['account', 'distrustFrom', '<issuerId> <account> <block>'],
  revoke: ['account', 'revoke', '<issuerId> <documentHashes> <reason>'],
  release: ['account', 'release', '<issuerId> <documentHashes>'],
  'revoke-batch': ['account', 'revokeBatch', '<issuerId> <root> <reason>'],
  'release-batch': ['account', 'releaseBatch', '<issuerId> <root>'],
  'revoke-in-batch': ['account', 'revokeInBatch', '<issuerId> <root> <documentHashes> <reason>'],
  'release-in-batch': ['account', 'releaseInBatch', '<issuerId> <root> <documentHashes>'],
}
