import type { PlainField } from '#document/kind.ts'
import type { ChainErrorCode, Check, CheckName, VerdictStatus } from '#verifier/index.ts'
import type { RevocationReason } from '#verifier/reasons.ts'
import type { SourceProblem } from '../config.ts'
import type { Doubt } from '../doubt.ts'
import type { Problem } from '../state.ts'

type Outcome = Check['outcome']
/** Checks that can fail, and that can be unknown. */
type Failing = Exclude<CheckName, 'chain' | 'identity' | 'event'>
type Unsure = 'batch' | 'chain' | 'credential' | 'payload' | 'content' | 'event'
/** Why a domain does not say whether it confirms the issuer. */
type Silence = 'no_domain' | 'unreachable' | 'malformed' | 'not_asked'
/** Errors of the chain that are not a reason why a document could not be checked. */
type NoReason = 'pruned' | 'unproven' | 'payload_unreachable'
/** Codes of unknown checks. */
type Unknown =
  | Exclude<ChainErrorCode, NoReason>
  | 'head_stale'
  | 'missing'
  | 'unreachable'
  | 'wrong_bytes'

/** The keys that are built at run time. A text with another key does not compile. */
type BuiltKey =
  | `error.${Problem}`
  | `${VerdictStatus}.${'title' | 'text'}`
  | `${'valid' | 'suspended' | 'not_issued'}.${'past' | 'past.text'}`
  | `valid.${Doubt}`
  | `domain.${Silence}`
  | `document.${PlainField | 'supersedes'}`
  | `${'document' | 'excerpt'}.heading`
  | `checks.${Outcome}`
  | `${CheckName}.pass`
  | `${Failing}.fail`
  | `${Unsure}.unknown`
  | 'chain.proven'
  | `identity.${Silence | 'denied' | 'account_not_listed'}`
  | `credential.holder${'' | '_invalid' | '_missing'}`
  | `event.${'contradicts' | 'pruned' | 'unreachable' | 'unproven'}`
  | `why.${Unknown}`
  | `reason.${RevocationReason}`
  | `trust.setAside.${boolean}`
  | `sources.${'' | 'bad.'}${SourceProblem}`

// English defines the keys; the other languages have the same ones. `{…}` is a placeholder.

/** The texts that the sources name by their whole keys. */
export const named = {
  title: 'Document check',
  language: 'Language',
  'own.label': 'Address of this page:',
  'own.hint':
    'Does your browser’s address bar show the same? And do you know this address? A forger’s page can look exactly like this one.',
  'own.file': 'A file on this device',
  'own.file.hint':
    'Make sure that it comes from somebody you trust: a forger’s page can look exactly like this one.',

  'ask.heading': 'Is this document genuine?',
  'ask.lead':
    'Enter the code of the document, or show its QR code. Your browser checks it against the blockchain itself; the name on the document is not sent to anybody.',
  'ask.label': 'Code or link of the document',
  'ask.check': 'Check',
  'ask.camera': 'Scan with the camera',
  'ask.file': 'Choose a picture or file',
  'ask.wallet': 'Ask a wallet',
  'ask.drop':
    'You can also drop a picture of the QR code, a certificate as PDF, a proof file, an excerpt or a credential from a wallet on this page.',
  'ask.another': 'Check another document',

  'camera.hold': 'Hold the QR code in front of the camera. The picture stays on this device.',
  'camera.stop': 'Stop the camera',
  'camera.alt': 'Picture of the camera',

  checking: 'Checking …',

  'superseded.ask': 'Ask whoever gave it to you for the newer one, or the issuer.',
  'superseded.held': 'You have opened the newer one on this page before.',
  'superseded.open': 'Show the newer one',
  'suspended.released':
    'It was released on {date}, but with a key that is reported stolen. Do not rely on it: it counts as on hold until the issuer releases it again.',
  'setAside.notice':
    'A revocation of this document was set aside, because the key that made it is reported stolen. If in doubt, ask the issuer.',
  'revoker.notice':
    'This was done with a key of the issuer that is reported stolen from block {block} on: {account}. Ask the issuer.',
  'closed.notice':
    'The administrator of the registry has closed this issuer (block {block}). It can no longer issue documents. If in doubt, ask the issuer.',
  'erased.here':
    'The service behind this page says that it has erased the content. Nobody else confirms that.',
  'unverifiable.recorded':
    'The document has not been withdrawn. But its content is unavailable, so what it says cannot be checked.',

  retry: 'Try again',
  'bundle.label': 'Hash of block {block} of {date}, from somebody you trust',
  'bundle.check': 'Check the proof with it',
  'bundle.bad': 'Not the hash of a block: it must be 0x and 64 digits.',
  print: 'Print',
  copy: 'Copy the code',
  copied: 'Copied',
  copyFailed: 'Copying is not possible here',
  download: 'Save the proof',
  downloadFailed: 'The nodes give no proof',
  secret: 'Whoever has the code of a document can read the document. Pass it on with care.',
  'network.name': 'Test or unknown network',
  'network.test': 'Test network, or one not known to carry real documents',
  'parties.issued': 'Issued to {name}.',
  'parties.recorded': 'The registry has a record of {date}.',

  'issuer.same': 'Compare it with the address that you know: anyone can choose a name.',
  'issuer.none': 'The issuer has not registered an address, so there is nobody to ask.',
  'issuer.calls': 'The issuer calls itself {issuer}.',
  'issuer.nobody': 'No domain confirms who the issuer is.',
  'domain.confirmed': 'The issuer is confirmed by the domain',
  'domain.linked':
    'This domain confirms the issuer, which calls itself {issuer}. Is it the domain that you expect?',
  'domain.asking': 'Asking this domain whether it confirms the issuer …',
  'domain.denied':
    'Warning: the issuer names this domain, but the domain does not confirm it. Somebody may be using its name. Ask there before you rely on this document.',
  'domain.not_listed':
    'Warning: this domain knows the issuer, but not the account that issued this document. Ask there before you rely on it.',

  'document.valid': 'The document below is valid.',
  'document.compare':
    'Compare every entry with the PDF or the paper: those can show anything. What counts stands here.',
  'document.unread': 'What it says cannot be shown: the content is unavailable.',
  'document.never': 'without end',
  'document.metadata': 'Further entries',
  'document.issuersWords':
    'The names in front are the issuer’s words, and prove nothing. The small ones behind them stand in the document.',
  'excerpt.mark': 'Excerpt of a document',
  'excerpt.only': 'The holder chose to show only these fields.',
  'excerpt.nothing': 'The holder chose to show no field.',
  'excerpt.save': 'Save the excerpt',
  'excerpt.passOn': 'Whoever has this excerpt can check it again, and pass it on.',
  'share.heading': 'Share only some fields',
  'share.lead':
    'Tick what the receiver may see. You get an excerpt as a file, as a link and, where it fits, as a QR code.',
  'share.fields': 'Fields to show',
  'share.learns':
    'The receiver learns these fields, who issued the document, when, and until when it is valid, and can check at any time whether it still is. Of the other fields they learn nothing. This shows less, but it does not make you anonymous: anyone can tell that two excerpts are of one document, and whoever receives one can pass it on.',
  'share.none': 'Tick at least one field.',
  'share.make': 'Make the excerpt',
  'share.ready': 'The excerpt is ready',
  'share.file': 'Save as a file',
  'share.link': 'Copy the link',
  'share.qr': 'QR code of the excerpt',
  'share.noQr': 'It is too long for a QR code.',
  'share.noLink': 'This page is a file and has no address, so there is no link.',
  'wallet.heading': 'Put it into a wallet',
  'wallet.lead':
    'A wallet app for digital credentials can hold this document and show only some of its fields. This button asks the issuer’s service for an offer.',
  'wallet.learns':
    'The service learns that you fetch it, not whom you show it to. Whoever checks what the wallet shows sees that it is always the same document.',
  'wallet.make': 'Ask for an offer',
  'wallet.ready': 'The offer is ready',
  'wallet.open': 'Open the wallet on this device',
  'wallet.other': 'The wallet refuses it? Offer the other form',
  'wallet.qr': 'QR code of the offer, for the wallet',
  'wallet.hint':
    'Scan it with the phone that has the wallet. The offer is good for one wallet and ten minutes.',
  'wallet.failed': 'There was no offer. Try again later, or ask the issuer.',

  asOf: 'Block {block}, {time}',
  'asOf.bundle': 'From a proof file: the state of {time}.',
  'checked.now': 'Checked just now',
  'checked.ago': 'Checked {ago}',
  'waiting.chain': 'Still waiting for the blockchain: no answer from {hosts} yet.',
  'waiting.content':
    'The registry has a record. Still waiting for the content of the document: no answer from {hosts} yet.',
  'statement.heading': 'In the proof file',
  'statement.text': 'The file that you opened shows the state of {date}: {status}.',
  'statement.later': 'What has happened since is not in it. The result above counts.',
  'statement.unusable': 'The file that you opened proves nothing here.',
  'printed.page': 'Checked on the page',
  'printed.time': 'Time of checking',
  'printed.file': 'a file on a device',

  'checks.heading': 'What was checked',
  'checks.passed': '{passed} of {count} checks passed',
  'checks.running': 'Checks passed so far: {passed}',

  'dating.notice': 'This document is dated in the future: {date}.',

  'why.offline': 'This device is offline.',
  'why.no_nodes': 'No node of the blockchain is named that could be asked.',

  'trust.heading': 'What this rests on',
  'trust.qr':
    'A QR code proves nothing by itself. It can lead to a forger’s page that looks like this one and says “valid”. Open a page whose address you know, and compare the registry with the one that the issuer makes public.',
  'trust.other':
    'The link or proof file names another registry, {registry}. This page does not trust it and has not asked it: the result is about the registry below alone.',
  'trust.insecure':
    'This page came over a connection that is not encrypted. Anyone on the network could have changed it.',
  'trust.registry': 'Registry',
  'trust.rpc': 'Nodes of the blockchain',
  'trust.ipfs': 'Where content is looked for',
  'trust.service': 'the service behind this page',
  'trust.depends':
    'A node can lie. To depend on nobody, name nodes of your own, or of several people who do not know each other.',
  'trust.quorum': 'Of {count} nodes, {quorum} must give the same answer.',
  'trust.details': 'Technical details',
  'trust.issuer': 'Issuer on record',
  'trust.uri': 'Address of the issuer',
  'trust.account': 'Account of the issuer',
  'trust.added': 'Account in the registry since block',
  'trust.age': '{block} ({before} blocks before it issued this)',
  'trust.setAside': 'Revocations set aside after a theft',
  'trust.block': 'State of the registry at',
  'trust.hash': 'Hash of the document',
  'trust.transaction': 'Transaction',
  'trust.none': 'not named yet',

  'sources.heading': 'Choose whom to ask',
  'sources.registry.hint':
    'From the issuer’s own publications, never from a QR code. In the form eip155:1:0x…',
  'sources.use': 'Use these',
  'sources.reset': 'Back to those of this page',
  'sources.identity': 'Ask the issuer’s domain whether it confirms the issuer.',
  'sources.identity.hint':
    'The domain then learns that somebody is checking a document of this issuer, but not which one.',
  'sources.kept': 'Your choice is remembered in this browser; codes of documents never are.',
} as const

/** The texts whose keys are built at run time. */
const built = {
  'error.empty': 'Enter the code of the document first.',
  'error.malformed': 'This is not the code of a document. Copy it again, all of it.',
  'error.mistyped':
    'There is a typing error in this code: its check digits do not fit. Copy it again.',
  'error.several': 'There are several codes of documents here. Enter only one of them.',
  'error.kind': 'This page does not know documents of this kind.',
  'error.noQr': 'No QR code was found in this picture. Take one that is sharp, straight and close.',
  'error.notOurs': 'This QR code does not hold the code of a document.',
  'error.file': 'This file is neither a picture nor a proof file, an excerpt or a credential.',
  'error.pdf':
    'This PDF has no proof file attached, or it is damaged. Show the QR code that is printed on it instead.',
  'error.bundle': 'This is not a proof file, or it is damaged.',
  'error.excerpt': 'This is not an excerpt of a document, or it is damaged.',
  'error.credential': 'This is not a credential of a document, or it is damaged.',
  'error.wallet': 'No wallet has shown a credential.',
  'error.camera':
    'The camera cannot be used. Allow it in the browser, or choose a picture instead.',
  'error.internal': 'Something went wrong on this page. This says nothing about the document.',
  'error.sources': 'First name the registry that you trust, and where to ask.',

  'valid.title': 'Valid',
  'valid.text': 'It has not been withdrawn and has not expired.',
  'valid.asking': 'Issued and unchanged',
  'valid.denied': 'The domain that the issuer names does not confirm it',
  'valid.notListed': 'The domain of the issuer does not list the account that issued it',
  'valid.unconfirmed': 'Issued and unchanged, but nobody confirms who the issuer is',
  'valid.pdf': 'Compare every entry: nobody has checked what is printed',
  'valid.future': 'Issued and unchanged, but dated in the future',
  'valid.past': 'Was valid on {date}, not checked since',
  'valid.past.text': 'It may have been withdrawn since then. Check it again before you rely on it.',
  'not_issued.title': 'Never issued',
  'not_issued.text':
    'The registry that this page trusts has no record of this document. If it was issued a moment ago, try again in a minute.',
  'not_issued.past': 'Not issued by {date}, not checked since',
  'not_issued.past.text':
    'The registry had no record of this document then. It may have been issued since.',
  'superseded.title': 'Replaced',
  'superseded.text': 'The issuer replaced it on {date}.',
  'revoked.title': 'Revoked',
  'revoked.text': 'The issuer withdrew it permanently on {date}. Reason: {reason}.',
  'suspended.title': 'On hold',
  'suspended.text':
    'The issuer put it on hold on {date}. Do not rely on it: the issuer may release it again or withdraw it permanently.',
  'suspended.past': 'Was on hold on {date}, not checked since',
  'suspended.past.text':
    'The issuer may have released it since then, or withdrawn it. Check it again.',
  'distrusted.title': 'Not to be trusted',
  'distrusted.text':
    'It was issued with a key that is reported stolen since before then. Ask the issuer for a new document.',
  'erased.title': 'Erased',
  'erased.text':
    'A document was recorded under this code, but its content has been erased. It can no longer be checked.',
  'wrong_key.title': 'This code does not open the document',
  'wrong_key.text':
    'There is a record, but the key in this code does not fit it. The code was changed, or parts of two codes were mixed up. Ask for the right code.',
  'tampered.title': 'Not genuine',
  'tampered.text':
    'Something is recorded under this code, but it is not a genuine document of the issuer that it names. Do not rely on it.',
  'expired.title': 'Expired',
  'expired.text': 'It was valid only through {date}.',
  'unverifiable.title': 'Could not be checked',
  'unverifiable.text': 'This says nothing about the document: it may be valid or not.',

  'domain.unreachable': 'This is the address that it names. It could not be asked.',
  'domain.malformed':
    'This is the address that it names. What is published there about it cannot be read.',
  'domain.not_asked': 'This is the address that it names. This page has not asked it.',
  'domain.no_domain': 'This is the address that it names. It is not a domain that can be asked.',

  'document.heading': 'The document',
  'document.subjectName': 'Name',
  'document.subjectId': 'Identifier',
  'document.category': 'Kind of document',
  'document.issuedAt': 'Date of issue',
  'document.expiresAt': 'Valid through',
  'document.supersedes': 'Replaces the document with the hash',
  'excerpt.heading': 'Excerpt of the document',

  'checks.pass': 'Passed',
  'checks.fail': 'Failed',
  'checks.unknown': 'Could not be checked',

  'chain.pass': 'The blockchain was read and is up to date.',
  'chain.proven': 'What the registry said at that block is proven.',
  'chain.unknown': 'The blockchain could not be read.',
  'batch.pass': 'The list that the document was issued in was found.',
  'batch.fail':
    'The list that the document was issued in is damaged, or belongs to another registry or issuer.',
  'batch.unknown': 'The list that the document was issued in is unavailable.',
  'record.pass': 'The registry has a record of the document.',
  'record.fail': 'The registry has no record of the document.',
  'supersession.pass': 'The document has not been replaced.',
  'supersession.fail': 'The document has been replaced.',
  'revocation.pass': 'The document has not been revoked.',
  'revocation.fail': 'The document has been revoked.',
  'suspension.pass': 'The document is not on hold.',
  'suspension.fail': 'The document is on hold.',
  'issuer.pass': 'The key that it was issued with is not reported stolen.',
  'issuer.fail': 'The key that it was issued with is reported stolen.',
  'identity.pass': 'The issuer’s own domain confirms the issuer.',
  'identity.denied': 'The domain that the issuer names does not confirm it.',
  'identity.account_not_listed':
    'The domain of the issuer does not list the account that issued it.',
  'identity.no_domain': 'The issuer names no domain that could be asked.',
  'identity.unreachable': 'The domain of the issuer could not be asked.',
  'identity.malformed': 'What the domain publishes about the issuer cannot be read.',
  'identity.not_asked': 'The domain of the issuer has not been asked.',
  'credential.pass': 'The domain of the issuer has signed this credential.',
  'credential.holder':
    'The domain of the issuer has signed this credential, and the key of its wallet has signed what is shown.',
  'credential.fail': 'The domain of the issuer has not signed this credential as it stands.',
  'credential.holder_invalid': 'The key of the wallet has not signed what is shown.',
  'credential.holder_missing': 'The key of the wallet has signed nothing.',
  'credential.unknown':
    'Whether the domain of the issuer has signed this credential could not be checked.',
  'payload.pass': 'The content was found, and is exactly what was recorded.',
  'payload.fail': 'The content has been erased.',
  'payload.unknown': 'The content is unavailable.',
  'key.pass': 'The key in the code opens the content.',
  'key.fail': 'The key in the code does not open the content.',
  'content.pass': 'The content belongs to this registry, this issuer and this date of expiry.',
  'content.fail':
    'The content breaks the format, does not fit the fingerprints of its fields, or belongs to another registry, issuer or date of expiry.',
  'content.unknown': 'What the content says is not known.',
  'expiry.pass': 'The document has not expired.',
  'expiry.fail': 'The document has expired.',
  'dating.pass': 'The date of issue is not in the future.',
  'dating.fail': 'The date of issue is in the future.',
  'event.pass': 'The transaction that issued it was found.',
  'event.unknown': 'The transaction that issued it was not found. That does not change the result.',
  'event.contradicts':
    'The transaction that issued it does not fit the record. That does not change the result.',
  'event.pruned':
    'The nodes no longer keep the transaction that issued it. That is normal for an older document, and does not change the result.',
  'event.unreachable':
    'The transaction that issued it could not be looked up. That does not change the result.',
  'event.unproven':
    'A proof file cannot prove the transaction that issued it. That does not change the result.',

  'why.rpc_unreachable': 'The node does not answer.',
  'why.rpc_error': 'The node answers with an error.',
  'why.no_registry': 'There is no registry at the address that this page trusts.',
  'why.wrong_chain': 'The node belongs to another blockchain.',
  'why.head_stale': 'The node is behind: its newest block is too old.',
  'why.missing': 'None of the places that were asked has the content.',
  'why.unreachable': 'The places that keep the content do not answer.',
  'why.wrong_bytes': 'The content that was delivered is not the one that was recorded.',
  'why.other_code': 'There is another program at the registry’s address than expected.',
  'why.other_registry': 'The proof is about another registry than the one that this page trusts.',
  'why.block_untrusted':
    'It is not known whether the block of the proof is one of the blockchain: no node has confirmed it.',
  'why.proof_invalid': 'The proof proves nothing.',
  'why.proof_unavailable': 'The node gives no proofs.',
  'why.endpoints_disagree': 'The nodes contradict each other.',
  'why.state_unavailable': 'The node no longer has the state of that block.',
  'why.batch_unknown': 'The proof file does not hold the list that the document was issued in.',

  'reason.unspecified': 'none given',
  'reason.keyCompromise': 'a key was compromised',
  'reason.cACompromise': 'the issuer was compromised',
  'reason.affiliationChanged': 'the affiliation has changed',
  'reason.superseded': 'replaced by another',
  'reason.cessationOfOperation': 'no longer in use',
  'reason.privilegeWithdrawn': 'the privilege was withdrawn',
  'reason.aACompromise': 'the authority was compromised',

  'trust.setAside.true': 'at least one',
  'trust.setAside.false': 'none',

  'sources.registry': 'Registry that you trust',
  'sources.rpc': 'Nodes of the blockchain (JSON-RPC), one a line',
  'sources.ipfs': 'IPFS gateways, one a line',
  'sources.bad.registry': 'Not a registry: it must look like eip155:1:0x and 40 digits.',
  'sources.bad.rpc': 'Every line must be an address that begins with https:// or http://',
  'sources.bad.ipfs': 'Every line must be an address that begins with https:// or http://',
} as const satisfies Record<BuiltKey, string>

export const en = { ...named, ...built } as const

export type TextKey = keyof typeof en
/** The texts of one language: all of them, or it does not compile. */
export type Texts = Record<TextKey, string>
