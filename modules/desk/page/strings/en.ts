import type { CallError, Calls, Scope, Session } from '#client/index.ts'
import type { FieldType, PlainField } from '#document/kind.ts'
import type { CELL_PROBLEMS } from '#table/rows.ts'
import type { Problem } from '../table/reader.ts'

type Alert = Calls['retrieveOverview']['data']['alerts'][number]
/** What can be done with a document. */
type Change = 'suspend' | 'release' | 'revoke' | 'erase'

/** The keys that are built at run time. A text with another key does not compile. */
type BuiltKey =
  | `role.${Session['person']['role']}`
  | `overview.${'week' | 'issued' | 'revoked' | 'superseded'}`
  | `warning.${Exclude<Alert, 'issuing_stopped'> | 'notReady'}`
  | `bad.${PlainField | Exclude<FieldType, 'text'>}`
  | `wallet.${'here' | 'away'}`
  | `${Change}.${'do' | 'question' | 'text' | 'done'}`
  | `act.${Calls['listActs']['data']['acts'][number]['act']}`
  | `kinds.${FieldType}`
  | `scope.${Scope}`
  | `table.${Problem | keyof typeof CELL_PROBLEMS}`
  | `table.dates.${'iso' | 'dmy' | 'mdy'}`
  | `table.shown.${'text' | 'value'}`
  | `table.${'batch' | 'single'}.hint`
/** Errors; those without a text of their own share one. */
type ErrorKey = `error.${CallError['code']}`

// The texts of the desk, beside those of the verify page. English defines the keys; the other
// languages have the same ones. `{…}` is a placeholder.

/** The texts that the sources name by their whole keys. */
export const named = {
  title: 'Document desk',
  signOut: 'Sign out',
  loading: 'Loading …',
  retry: 'Try again',
  cancel: 'Cancel',
  choose: 'Please choose',
  final: 'This cannot be undone.',
  trouble:
    'The service is busy or out of reach. What you entered is kept, and the desk tries again by itself.',
  'nav.label': 'Parts of the desk',
  'nav.overview': 'Overview',
  'nav.issue': 'Issue a document',
  'nav.table': 'Issue from a table',
  'nav.find': 'Find',
  'nav.kinds': 'Kinds of documents',
  'nav.people': 'People',

  'nav.programs': 'Programs',

  'signIn.heading': 'Sign in to the desk',
  'signIn.invited': 'You have opened a sign-in link. It works once.',
  'signIn.use': 'Sign in with this link',
  'signIn.stay': 'Stay signed in as {name}',
  'signIn.passkey': 'Sign in with a passkey',
  'signIn.provider': 'Sign in with {name}',
  'signIn.otherTab': 'Sign in in another tab',
  'signIn.link': 'Sign-in link',
  'signIn.link.hint': 'An administrator of the desk gives you one. It works once.',
  'signIn.go': 'Sign in with the link',
  'signIn.bad': 'This is not a sign-in link. Copy it again, all of it.',
  'signIn.refused': 'The passkey was not used. Try again, or sign in with a link.',
  'signIn.address':
    'Passkeys need an address with a name. On this machine, open the desk at “localhost” in place of the number.',
  'signIn.again': 'Please sign in again',
  'signIn.again.text':
    'You were signed out, because some time has passed or somebody ended your session. What you entered is still here.',
  'signIn.meanwhile': 'I have signed in in another tab',
  'signIn.notYet': 'Nobody has signed in yet.',

  'passkey.heading': 'Set up a passkey',
  'passkey.text':
    'With a passkey you sign in by fingerprint, face or the PIN of your device, without a new link each time.',
  'passkey.proof': 'Your browser first asks for a passkey that you have, and then for the new one.',
  'passkey.name': 'Name of the passkey',
  'passkey.label': 'Passkey {number}',
  'passkey.done': 'The passkey is set up.',
  'passkey.refused': 'The passkey was not set up. Try again, or use another device.',
  'passkey.none': 'You need a new link next time',
  'passkey.address':
    'This address is a number, and passkeys need a name. On this machine, open the desk at “localhost” and set up a passkey there.',
  'passkey.lacking':
    'This browser offers no passkeys here. They need an encrypted connection (https).',
  'me.passkeys': 'Your passkeys',
  'me.none': 'You have none yet.',
  'me.remove.question': 'Remove {label}?',
  'me.remove.text': 'Nobody can sign in with it any more.',
  'me.remove.last':
    'It is your last one. Set up another one first, or you need a new link from an administrator.',

  'overview.heading': 'Hello, {name}',
  'overview.weeks': 'The last weeks',
  'overview.service': 'The service',
  'overview.waiting': 'Waiting to be recorded',
  'overview.balance': 'The account that pays',
  'overview.lasts':
    '{balance} ether, enough for about {count} documents issued one by one at the present price',
  'overview.unknown': 'not known at the moment',
  'overview.fees': 'Fees of the last hour',
  'overview.ether': '{amount} ether',
  'overview.cap': '{amount} ether of at most {cap}',
  'overview.backup': 'Last backup by the service',
  'overview.backup.none': 'none is known',
  'overview.recent': 'Issued last',

  'form.subjectName': 'As it must appear on the document',
  'form.subjectId': 'Digits only, such as a registration number',
  'form.category': 'Such as diploma or birth certificate',
  'form.expiresAt': 'Leave empty if it never expires',
  'form.entries': 'Anything else that the document says, such as a grade',
  'form.addEntry': 'Add an entry',
  'form.removeEntry': 'Remove entry {number}',
  'form.entryName': 'Name of entry {number}',
  'form.entryValue': 'Text of entry {number}',
  'bad.missing': 'Please fill this in.',
  'bad.noDay': 'There is no {day}.',
  'bad.metadata':
    'Each entry needs its own name of at most 64 characters; there may be 64, and 32 KB in all.',

  'form.otherKind': 'Another kind',
  'form.otherKind.name': 'Which kind?',
  'form.optional': 'May stay empty.',
  'bad.notOfKind': 'This kind of document has no such entry. Remove it.',
  'issue.check': 'Check and issue',
  'issue.clear': 'Start anew',
  'issue.clear.sent':
    'The document on this form may have been issued. Look for it under Find before you issue it again.',
  'issue.kept': 'What you type stays in this tab until you issue it or sign out.',
  'issue.question': 'Issue this {kind} for {name}?',
  'issue.specimen': 'Specimen of what its readers will see, below the answer whether it is valid:',
  'issue.final':
    'What is issued cannot be changed or deleted, only corrected by a new document or revoked.',
  'issue.do': 'Issue',
  'issue.busy': 'The document is being issued. That usually takes a few seconds …',
  'issue.unknown':
    'It is not known whether this document was issued, because no answer came. Try again: it is not issued twice.',
  'issued.heading': 'The document is issued',
  'issued.text': 'Anybody who has its code can check it now.',
  'issued.pending': 'The document is accepted',
  'issued.pending.text':
    'It is being recorded, usually within a minute. You may leave this page: it will be done.',
  'issued.another': 'Issue another one',
  'issued.open': 'Open the document',
  'status.pending': 'Being recorded',

  'passOn.heading': 'Hand it over',
  'passOn.qr': 'QR code that leads to the check of this document',
  'passOn.open': 'Open as its readers see it',
  'passOn.secret':
    'Whoever has this code or link can read the document. Give it only to those who may.',
  'wallet.heading': 'Into the holder’s wallet',
  'wallet.hint':
    'A wallet app for digital credentials keeps the document and can show only some of its fields.',
  'wallet.code': 'Tell the holder this code another way:',
  'wallet.open': 'Open a wallet on this device',
  'wallet.until': 'For one wallet, until {time}. Whoever has the link can fetch the document.',

  'find.noNames':
    'Names cannot be searched, because this service does not store them. Look for the identifier.',
  'find.status': 'Status',
  'find.any': 'All',
  'find.from': 'Issued from',
  'find.to': 'Issued to',
  'find.batch': 'Batch',
  'find.batch.hint': 'The batchRoot of the results, beginning with 0x',
  'find.reset': 'Clear',
  'find.open': 'Open',
  'find.found': 'Documents, the newest first',
  'find.none': 'No such document',
  'find.nothing': 'There are no documents yet.',
  'find.newer': 'Newer ones',
  'find.older': 'Older ones',
  'find.save': 'Save all as a table',
  'find.unopened': 'Its content is not here any more',

  'names.heading': 'Find by name',
  'names.hint':
    'The service stores no names, but your saved results have them, such as issued.csv. They are read here and sent nowhere.',
  'names.files': 'Tables of results',
  'names.folder': 'Or a folder of docreg',
  'names.read': 'Documents that can be found by name here: {count}',
  'names.keep': 'Keep the names of what I issue in this browser',
  'names.keep.hint':
    'Names and identifiers of documents that you issue from now on stay in this browser, at most 10,000, so that you find them by name without a file. They are sent nowhere. They stay after you sign out, and whoever else can use this browser could read them: switch this on at a device of your own alone. Switching it off deletes them.',
  'names.keep.failed': 'This browser cannot keep anything for this page.',
  'names.forget.question': 'Delete the names that this browser keeps ({count})?',
  'names.forget.text':
    'The documents stay as they are. You can still find them by identifier, or in saved results.',
  'names.forget': 'Delete the names',
  'names.unread': 'These files could not be read: {names}',

  'several.column': 'Tick',
  'several.choose': 'Tick {name}',
  'several.chosen': 'Ticked: {count}',
  'several.question': '{what} these documents ({count})?',
  'several.done': 'Done: {done} of {all}.',
  'document.heading': 'Document',
  'document.older': 'Show the one that it replaces',
  'actions.heading': 'What you can do',
  'actions.busy': 'It is being done. That usually takes a few seconds …',
  'actions.pending': 'It is accepted and will be done within a minute or so.',
  'actions.unknown':
    'No answer came, so it is not known whether it was done. The status shows what is recorded now.',
  'revoke.reason': 'Reason',
  'revoke.reason.hint': 'Everybody can read the reason.',

  'correct.do': 'Correct',
  'correct.heading': 'Correct a document',
  'correct.hint': 'A new document replaces the old one. Hand over its new code.',
  'correct.check': 'Show what changes',
  'correct.none': 'Open the document that you want to correct first.',
  'correct.same': 'Nothing has changed yet.',
  'correct.question': 'Replace the {kind} of {name}?',
  'correct.text':
    'The old document is revoked as replaced, and whoever checks it will see that there is a newer one.',
  'correct.done': 'The document is replaced. This is the new one.',
  'changes.field': 'Entry',
  'changes.before': 'Before',
  'changes.after': 'After',
  'changes.none': 'empty',

  'acts.heading': 'Who did what',
  'acts.batch': '(with its whole batch)',
  'acts.key': 'the program with the key',
  'acts.unknown': 'not recorded for you',

  'verdict.heading': 'What its readers see',
  'verdict.hint': 'The service checks the document against the blockchain now.',
  'verdict.check': 'Check now',

  'people.add': 'Add a person',
  'people.all': 'People of this desk',
  'people.role': 'Role',
  'people.kinds': 'Only these kinds of documents',
  'people.kinds.hint': 'Separated by commas. Leave empty for all.',
  'people.link': 'Sign-in link for {name}, until {date}',
  'people.link.hint':
    'It is shown only here and works once. Give it to this person alone: whoever opens it is signed in.',
  'people.signedIn': 'signed in',
  'people.hasPasskey': 'has a passkey',
  'people.invited': 'has an unused link',
  'people.blocked': 'blocked',
  'people.block': 'Blocked: may not sign in',
  'people.invite': 'New link',
  'people.invite.of': 'New link for {name}',
  'people.signOut': 'Sign out',
  'people.signOut.of': 'Sign out {name}',
  'people.passkeys': 'Passkeys',
  'people.passkeys.of': 'Passkeys of {name}',
  'people.passkeys.text':
    'Tick what to remove. Nobody can sign in with it any more, and the person is signed out.',
  'people.lost': 'A passkey is lost: remove all that the person has, and sign the person out',
  'people.remove': 'Remove',
  'people.remove.of': 'Remove {name}',
  'people.remove.question': 'Remove {name} from the desk?',
  'people.remove.text':
    'The person is signed out at once. Documents that the person issued stay valid.',
  'people.comesBack':
    'The person can come back through your organisation, for the same kinds of documents. To keep them out, block them under “Change” instead.',

  'kinds.lead':
    'A kind says which entries a document has and what they are called. From then on, only documents that fit are issued. Everybody can read it.',
  'kinds.none': 'There are none yet. Documents may have any entries.',
  'kinds.add': 'Define a kind',
  'kinds.import': 'Read from a file',
  'kinds.badFile': 'This file is not a kind of documents ({field}).',
  'kinds.all': 'Kinds',
  'kinds.edit': 'Change',
  'kinds.edit.of': 'Change {name}',
  'kinds.save.of': 'Save as a file: {name}',
  'kinds.export': 'Save as a file',
  'kinds.remove': 'Remove',
  'kinds.remove.of': 'Remove {name}',
  'kinds.remove.question': 'Remove the kind {name}?',
  'kinds.remove.text': 'Issued documents stay valid. New ones may have any entries.',
  'kinds.category': 'Short name',
  'kinds.category.hint':
    'It stands in every document, such as diploma, and cannot be changed later.',
  'kinds.language': 'Add a language',
  'kinds.name': 'Name ({language})',
  'kinds.template': 'Template of its certificates',
  'kinds.expires': 'The document must have an end of validity',
  'kinds.field': 'Entry {number}',
  'kinds.field.key': 'Short name in the document',
  'kinds.field.type': 'What is entered',
  'kinds.choices': 'Choices, each on a line of its own',
  'kinds.required': 'Must be filled in',
  'kinds.up': 'Move entry {number} up',
  'kinds.publish': 'Save this kind',
  'kinds.saved': 'The kind is saved.',
  'kinds.bad': 'Something is missing or wrong here.',
  'people.change': 'Change',
  'people.change.of': 'Change {name}',
  'people.change.title': 'What may {name} do?',
  'people.change.text': 'If this changes something, the person is signed out and signs in again.',
  'people.provider': 'signs in with your organisation',
  'keys.all': 'Keys of programs',
  'keys.hint':
    'A program that issues or checks documents needs a key. Whoever has it can do what it may do.',
  'keys.add': 'Make a key',
  'keys.label': 'What it is for',
  'keys.label.hint': 'Such as the name of the program',
  'keys.scopes': 'What it may do',
  'keys.used': 'last used {date}',
  'keys.unused': 'never used',
  'keys.expires': 'until {date}',
  'keys.revoke.question': 'Revoke the key {name}?',
  'keys.revoke.text':
    'The program with it stops working at once. Documents that it issued stay valid.',
  'keys.secret': 'The key',
  'keys.secret.hint': 'It is shown only here. Put it where the program reads it, and nowhere else.',
  'keys.copy': 'Copy',
  'webhooks.all': 'Receivers of events',
  'webhooks.hint':
    'The service tells these addresses when a document is issued, revoked or changed otherwise.',
  'webhooks.add': 'Add a receiver',
  'webhooks.url': 'Address',
  'webhooks.url.hint': 'An https address of a program of yours',
  'webhooks.secret': 'The secret with which events are signed',
  'webhooks.test': 'Test',
  'webhooks.test.of': 'Test {name}',
  'webhooks.reached': 'It has answered.',
  'webhooks.notReached': 'It has not answered, or not as it should.',
  'webhooks.failing': 'cannot be reached at the moment',
  'webhooks.off': 'switched off',
  'webhooks.remove.question': 'Remove the receiver {name}?',
  'webhooks.remove.text': 'It gets no more events.',
  'table.lead':
    'Each row becomes a document. Drop the file of your spreadsheet here (.xlsx, .ods or CSV), or paste the cells below. The first row names the columns.',
  'table.choose': 'Choose a file',
  'table.template': 'Save an empty table',
  'table.paste': 'Cells from a spreadsheet',
  'table.pasted': 'pasted cells',
  'table.read': 'Read these cells',
  'table.tooLarge': 'The file is larger than 32 MB. Split the table.',
  'table.encoding': 'Which letters has the file?',
  'table.readSo': 'Read it so',
  'table.columns': 'What the columns mean',
  'table.columns.hint': 'File: {name}',
  'table.entry': 'Further entry of the document',
  'table.leaveOut': 'Leave out',
  'table.undecided': 'What is in this column?',
  'table.twice': 'Another column has the same meaning.',
  'table.same': 'The same in all rows',
  'table.dates': 'How dates are written',
  'table.another': 'Use another table',
  'table.rows': 'Rows',
  'table.allGood': 'All rows are good ({good}).',
  'table.someBad':
    'Good rows: {good}. Rows with a problem: {bad}. Correct them here, or in your table.',
  'table.onlyBad': 'Show only rows with a problem',
  'table.line': 'Line',
  'table.problem': 'Problem',
  'table.cell': '{field}, line {line}',
  'table.duplicate': 'The same as line {line}, which is issued instead.',
  'table.before': 'Earlier rows',
  'table.after': 'Later rows',
  'table.page': 'Page {page} of {pages}',
  'table.issue': 'Issue',
  'table.mode': 'How they are issued',
  'table.batch': 'All together.',
  'table.single': 'One by one.',
  'table.badLeft': 'Rows that are not issued: {count}. You can save them as a file afterwards.',
  'table.decideFirst': 'First say what each column means, above: {columns}',
  'table.start': 'Issue the good rows ({count})',
  'table.question': 'Issue the good rows of this table ({count})?',
  'table.cost': 'What will it cost, and how long will it take?',
  'table.cost.is':
    'All together: about {fee}, at most {max}, in the coin of the blockchain (ether), and about {time}. One by one: about {single}, and about {singleTime}. These are estimates; it takes longer while others issue too.',
  'table.busy': 'The documents are being issued',
  'table.busy.hint':
    'The service does this by itself. You may close this window, and come back later to see the results.',
  'table.halted': 'The run has stopped',
  'table.halted.hint': 'Nothing is lost. Go on: no row is issued twice.',
  'table.done': 'The table is issued',
  'table.progress': '{done} of {all} rows are done.',
  'table.stop': 'Stop',
  'table.goOn': 'Go on',
  'table.refresh': 'Look again at those that are being recorded',
  'table.files': 'Results',
  'table.files.hint':
    'The results have the link of each document: whoever has them can read all. Save them, for the service cannot list the links by name.',
  'table.issued': 'Save the results',
  'table.failed': 'Save the rows that were not issued ({count})',
  'table.mend': 'Correct those rows',
  'table.leave':
    'The results are deleted from this page and from the service. Have you saved them?',
  'table.link': 'Link',
  'table.notKept':
    'This table is too large to survive a reload of the page. Keep the page open until you have started to issue it.',

  'table.reading': 'Reading the file …',
  'table.shown': 'What is issued of this column?',
  'table.sheet': 'Sheet',
  'table.header': 'Line that names the columns',
  'table.language': 'Numbers and months in the file',
  'table.runs': 'Your tables at the service',
  'table.runs.hint':
    'The service keeps rows and results until a day after the end. Save the results before.',
  'table.run': '{time}: {done} of {all} rows',
  'table.run.open': 'Show it',
  'table.forbidden': 'You may not issue documents any more, so the service has stopped.',
  'table.waiting': 'The service cannot issue at the moment. It goes on by itself.',
  'certificate.heading': 'Certificate',
  'certificate.template': 'Template',
  'certificate.save': 'Save as PDF',
  'certificate.preview': 'Preview',
  'certificate.preview.hint':
    'Shows how the certificate would look, marked as a specimen. Nothing is issued.',
  'certificate.zip': 'Save the certificates (ZIP)',
  'certificate.progress': '{done} of {all} certificates',
  'certificate.failed': 'Not printed: {count}.',
  'certificate.again': 'Print those again',
  'certificate.secret':
    'Whoever has this file can read the document. Give it only to those who may.',
  'error.outage': 'The service cannot do this at the moment, and nothing was done. Try again soon.',
  'error.other':
    'This was not possible ({code}). Tell whoever runs this service: request {request}.',
  'error.page': 'This page has made a mistake. Reload it and try again.',
  'error.badCode': 'This is not the code of a document. Copy it again, all of it.',
} as const

/** The texts whose keys are built at run time. */
const built = {
  'role.reader': 'Reader: finds and checks documents',
  'role.clerk': 'Clerk: issues documents too',
  'role.registrar': 'Registrar: corrects, revokes and erases documents too',
  'role.administrator': 'Administrator: everything, also people',

  'overview.week': 'Week from',
  'overview.issued': 'Issued',
  'overview.revoked': 'Revoked',
  'overview.superseded': 'Replaced',
  'warning.low_balance':
    'The account that pays for issuing is nearly empty. Tell whoever runs this service.',
  'warning.may_not_revoke':
    'The service may not revoke documents at the moment. Tell whoever runs this service.',
  'warning.clock_behind_chain':
    'The clock of the service is wrong. Tell whoever runs this service.',
  'warning.stale_head':
    'The blockchain has stood still for some minutes, as far as the service can see. Tell whoever runs this service.',
  'warning.hourly_fees_near_cap':
    'The fees of this hour are near their limit. Issuing may stop for a while.',
  'warning.queue_grows': 'Very many requests are waiting. Issuing takes longer than usual.',
  'warning.webhooks_fail': 'Some receivers of events cannot be reached, or are switched off.',
  'warning.erasures_unfinished':
    'Content that was to be erased is not gone yet. The service goes on with it.',
  'warning.notReady':
    'The service cannot issue at the moment. Wait a little; if it stays so, tell whoever runs it.',

  'bad.subjectName':
    'At most 200 characters on one line, with at least one visible letter or digit.',
  'bad.subjectId': 'Digits 0 to 9 only, at most 64.',
  'bad.category':
    'Letters a to z, digits and _ only, beginning with a letter, such as birth_certificate.',
  'bad.issuedAt': 'A real date from 1970 on, at most a year ahead, in the form 2026-12-31.',
  'bad.expiresAt': 'A real date that is not before the date of issue, in the form 2026-12-31.',

  'bad.date': 'A real date, in the form 2026-12-31.',
  'bad.number': 'A number, such as 12 or 1.7.',
  'bad.choice': 'One of the choices of this entry.',

  'wallet.here': 'The holder is here',
  'wallet.away': 'Make a link to send',

  'revoke.do': 'Revoke',
  'revoke.question': 'Revoke the {kind} of {name} for good?',
  'revoke.text': 'Whoever checks it will see that it is revoked, and the reason.',
  'revoke.done': 'The document is revoked.',
  'suspend.do': 'Put on hold',
  'suspend.question': 'Put the {kind} of {name} on hold?',
  'suspend.text': 'Whoever checks it will see that it is on hold. You can release it again.',
  'suspend.done': 'The document is on hold.',
  'release.do': 'Release',
  'release.question': 'Release the {kind} of {name}?',
  'release.text': 'It will be valid again.',
  'release.done': 'The document is released.',
  'erase.do': 'Erase the content',
  'erase.question': 'Erase the content of the {kind} of {name}?',
  'erase.text':
    'Nobody can read or check it any more, not even its holder. That it existed stays recorded, without the name.',
  'erase.done': 'The content is erased.',

  'act.issue': 'Issued',
  'act.supersede': 'Replaced',
  'act.suspend': 'Put on hold',
  'act.release': 'Released',
  'act.revoke': 'Revoked',
  'act.erase': 'Content erased',

  'kinds.text': 'Text',
  'kinds.date': 'Date',
  'kinds.number': 'Number',
  'kinds.choice': 'One of several choices',
  'scope.documents:issue': 'issue',
  'scope.documents:read': 'find and read',
  'scope.verify': 'check',
  'scope.documents:revoke': 'revoke and put on hold',
  'scope.documents:erase': 'erase content',
  'scope.webhooks': 'manage receivers of events',
  'scope.admin': 'everything, also keys and people',
  'table.not_encoding': 'The file is not in these letters. Choose others.',
  'table.no_columns': 'There are no rows. The first row must name the columns.',
  'table.duplicate_column': 'Two columns have the same name.',
  'table.too_many_rows': 'There are more than 100,000 rows. Split the table.',
  'table.quotes': 'Line {line}: a quotation mark is not closed, or stands in the middle of a cell.',
  'table.row_too_long': 'Line {line} is too long.',
  'table.cell_count': 'Line {line} has more or fewer cells than there are columns.',
  'table.not_utf8':
    'The text is not UTF-8. Save the table as “CSV UTF-8”, or say where the file comes from:',
  'table.is_utf8': 'The text is UTF-8 after all. Read the file again.',
  'table.dates.iso': '2026-12-31',
  'table.dates.dmy': '31.12.2026 or 31/12/2026',
  'table.dates.mdy': '12/31/2026',
  'table.batch.hint': 'Far cheaper. Each document can still be checked and revoked alone.',
  'table.single.hint': 'You can stop in between.',

  'table.no_workbook':
    'This file cannot be read. It may be damaged or protected by a password. Save it again as .xlsx or “CSV UTF-8”.',
  'table.workbook_too_large':
    'The sheet is too large, or has cells far outside of the table. Copy only the table into a new file.',
  'table.old_workbook':
    'This is an .xls file of Excel before 2007, or it has a password. Save it as .xlsx without one.',
  'table.web_page':
    'This file is a web page or XML, whatever its name says. Open it in a spreadsheet program and save it as .xlsx.',
  'table.workbook_strange':
    'No spreadsheet program writes such a file. Open it in one, and save it again as .xlsx.',
  'table.too_many_merged':
    'Too many cells are merged. Undo that in the spreadsheet, or copy only the table into a new file.',
  'table.too_slow': 'This file takes too long to read. Copy only the table into a new file.',
  'table.noReader': 'The page could not load what reads files. Load the page again.',
  'table.no_result': 'The spreadsheet has an error here, or a formula that was not computed.',
  'table.digits_lost': 'Spreadsheets lose digits of so long a number. Type it again.',
  'table.shown.text': 'What it shows: {text}',
  'table.shown.value': 'What it stores: {value}',
  'error.certificates_unavailable':
    'This service makes no certificates. Whoever runs it can install them.',
  'error.unprintable': 'No certificate can be made of this document: {message}.',
  'error.too_many_runs':
    'The service has five tables of yours. Open an old one, save its results and use another table.',
  'error.unauthorized': 'You are signed out. Nothing was sent.',
  'error.forbidden': 'Your role does not allow this.',
  'error.category_not_allowed': 'You may not do this with this kind of document.',
  'error.invitation_invalid':
    'This link does not work any more: it was used, is too old, or is incomplete. Ask an administrator for a new one.',
  'error.passkey_invalid':
    'This passkey is not known here. Sign in with a link; an administrator can give you one.',
  'error.passkey_required':
    'You have no passkey that could confirm this. Ask an administrator for a new link, and set one up after it.',
  'error.person_blocked': 'An administrator has blocked you. Ask there.',
  'error.provider_refused':
    'The sign-in page of your organisation did not confirm who you are, or it took too long. Try again.',
  'error.no_role':
    'Your organisation knows you, but none of your groups may use this desk. Ask whoever manages the groups.',
  'error.provider_unavailable':
    'The sign-in page of your organisation is out of reach at the moment. Try again soon.',
  'error.provider_decides':
    'This person signs in with your organisation, which decides name and role.',
  'error.last_administrator': 'There must be at least one administrator.',
  'error.too_many_people': 'There are as many people as this desk can have.',
  'error.too_many_passkeys': 'You have as many passkeys as are possible. Remove one first.',
  'error.kind_changed': 'Somebody else has changed this kind meanwhile. Open it again.',
  'error.too_many_kinds': 'There are as many kinds as this service can have.',
  'error.not_found': 'There is no such document here, or you may not see it.',
  'error.already_revoked': 'Somebody has already revoked this document.',
  'error.already_superseded': 'Somebody has already replaced this document.',
  'error.not_suspended': 'The document is not on hold any more.',
  'error.change_pending': 'Another change of this document is under way. Wait a minute.',
  'error.erased': 'The content of this document has been erased.',
  'error.no_offers': 'This service puts no documents into wallets.',
  'error.not_valid': 'The document is not valid now.',
  'error.other_issuer': 'This document is from another issuer.',
  'error.bad_fields': 'The service refuses what was entered.',
  'error.batch_refused': 'The service refuses these rows together. Issue them one by one.',
  'error.no_answer': 'No answer came. Check your connection and try again: nothing is done twice.',
  'error.not_understood':
    'The answer does not come from the desk’s service. Something between you and it may be wrong.',
} as const satisfies Record<BuiltKey, string> & Partial<Record<ErrorKey, string>>

export const en = { ...named, ...built } as const

export type TextKey = keyof typeof en
/** The texts of one language: all of them, or it does not compile. */
export type Texts = Record<TextKey, string>
