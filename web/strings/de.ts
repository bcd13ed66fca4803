import type { Texts } from './en.ts'

export const de: Texts = {
  title: 'Dokumentprüfung',
  language: 'Sprache',
  'ask.heading': 'Ist dieses Dokument echt?',
  'ask.lead':
    'Geben Sie die Nummer des Dokuments ein oder wählen Sie ein Bild seines QR-Codes. Ihr Browser prüft es selbst an der Blockchain; der Name auf dem Dokument wird an niemanden gesendet.',
  'ask.label': 'Nummer oder Link des Dokuments',
  'ask.check': 'Prüfen',
  'ask.camera': 'Mit der Kamera scannen',
  'ask.file': 'Bild oder Datei wählen',
  'ask.drop':
    'Sie können ein Bild des QR-Codes oder eine Nachweisdatei auch auf diese Seite ziehen.',
  'ask.another': 'Ein anderes Dokument prüfen',
  'camera.hold':
    'Halten Sie den QR-Code vor die Kamera. Das Bild bleibt auf diesem Gerät.',
  'camera.stop': 'Kamera ausschalten',
  'camera.alt': 'Bild der Kamera',
  'error.empty': 'Geben Sie zuerst die Nummer des Dokuments ein.',
  'error.malformed':
    'Das ist keine Nummer eines Dokuments. Kopieren Sie sie noch einmal, und zwar vollständig.',
  'error.mistyped':
    'In dieser Nummer ist ein Tippfehler: Ihre Prüfziffern passen nicht. Kopieren Sie sie noch einmal.',
  'error.kind': 'Diese Seite kennt Dokumente dieser Art nicht.',
  'error.noQr':
    'In diesem Bild wurde kein QR-Code gefunden. Nehmen Sie ihn scharf, gerade und aus der Nähe auf.',
  'error.notOurs': 'Dieser QR-Code enthält keine Nummer eines Dokuments.',
  'error.file': 'Diese Datei ist weder ein Bild noch eine Nachweisdatei.',
  'error.bundle': 'Das ist keine Nachweisdatei, oder sie ist beschädigt.',
  'error.camera':
    'Die Kamera kann nicht benutzt werden. Erlauben Sie sie im Browser, oder wählen Sie ein Bild.',
  'error.internal':
    'Auf dieser Seite ist etwas schiefgegangen. Über das Dokument sagt das nichts aus.',
  'error.sources':
    'Nennen Sie zuerst das Register, dem Sie vertrauen, und wo gefragt werden soll.',
  checking: 'Wird geprüft …',
  'valid.title': 'Gültig',
  'valid.text':
    'Der unten genannte Aussteller hat dieses Dokument ausgestellt. Es ist weder zurückgezogen noch abgelaufen.',
  'not_issued.title': 'Nie ausgestellt',
  'not_issued.text':
    'Das Register, dem diese Seite vertraut, hat keinen Eintrag zu diesem Dokument. Wurde es eben erst ausgestellt, versuchen Sie es in einer Minute noch einmal.',
  'superseded.title': 'Ersetzt',
  'superseded.text':
    'Der Aussteller hat dieses Dokument am {date} ersetzt. Verlangen Sie das neuere.',
  'revoked.title': 'Widerrufen',
  'revoked.text':
    'Der Aussteller hat dieses Dokument am {date} endgültig zurückgezogen. Grund: {reason}.',
  'distrusted.title': 'Nicht vertrauenswürdig',
  'distrusted.text':
    'Es wurde mit einem Schlüssel ausgestellt, der seit einem früheren Zeitpunkt als gestohlen gemeldet ist. Verlangen Sie vom Aussteller ein neues Dokument.',
  'erased.title': 'Gelöscht',
  'erased.text':
    'Unter dieser Nummer ist ein Dokument eingetragen, aber sein Inhalt wurde gelöscht. Es lässt sich nicht mehr prüfen.',
  'erased.here':
    'Der Dienst hinter dieser Seite sagt, er habe den Inhalt gelöscht. Das ist allein sein Wort.',
  'wrong_key.title': 'Falsche Nummer',
  'wrong_key.text':
    'Ein Dokument ist eingetragen, aber der Schlüssel in dieser Nummer öffnet es nicht. Die Nummer wurde verändert oder gehört zu einem anderen Dokument.',
  'tampered.title': 'Nicht echt',
  'tampered.text':
    'Unter dieser Nummer ist etwas eingetragen, aber es ist kein echtes Dokument des Ausstellers, den es nennt. Verlassen Sie sich nicht darauf.',
  'expired.title': 'Abgelaufen',
  'expired.text':
    'Der unten genannte Aussteller hat dieses Dokument ausgestellt, aber es war nur bis zum {date} gültig.',
  'unverifiable.title': 'Nicht prüfbar',
  'unverifiable.text':
    'Über das Dokument sagt das nichts aus: Es kann gültig sein oder nicht.',
  retry: 'Noch einmal versuchen',
  'bundle.now': 'Den Stand von jetzt prüfen',
  'bundle.label': 'Hash des Blocks {block}, von jemandem, dem Sie vertrauen',
  'bundle.check': 'Den Nachweis damit prüfen',
  'bundle.bad':
    'Das ist kein Hash eines Blocks: Er muss aus 0x und 64 Ziffern bestehen.',
  print: 'Drucken',
  copy: 'Nummer kopieren',
  copied: 'Kopiert',
  copyFailed: 'Kopieren ist hier nicht möglich',
  download: 'Nachweis speichern',
  downloadFailed: 'Die Knoten geben keinen Nachweis',
  secret:
    'Wer die Nummer eines Dokuments hat, kann das Dokument lesen. Geben Sie sie mit Bedacht weiter.',
  'issuer.heading': 'Ausgestellt von',
  'issuer.recorded': 'Eingetragen von',
  'issuer.same':
    'Ist das der Aussteller, den Sie erwarten? Vergleichen Sie die Adresse mit der, die Sie kennen.',
  'issuer.none': 'Der Aussteller hat keine Adresse eintragen lassen.',
  'document.heading': 'Das Dokument',
  'document.unread':
    'Was darin steht, kann nicht gezeigt werden: Der Inhalt war nicht zu bekommen.',
  'document.subjectName': 'Name',
  'document.subjectId': 'Kennnummer',
  'document.category': 'Art des Dokuments',
  'document.issuedAt': 'Ausgestellt am',
  'document.expiresAt': 'Gültig bis',
  'document.never': 'unbefristet',
  'document.metadata': 'Weitere Angaben',
  asOf: 'Stand: Block {block}, {time}',
  'asOf.bundle':
    'Aus einer Nachweisdatei: Es galt zu jenem Zeitpunkt. Was seither geschehen ist, steht nicht darin.',
  'checks.heading': 'Was geprüft wurde',
  'checks.pass': 'Bestanden',
  'checks.fail': 'Nicht bestanden',
  'checks.unknown': 'Nicht prüfbar',
  'checks.running': 'Weitere Prüfungen laufen …',
  'chain.pass': 'Die Blockchain wurde gelesen und ist auf dem neuesten Stand.',
  'chain.proven': 'Was das Register bei jenem Block sagte, ist bewiesen.',
  'chain.unknown': 'Die Blockchain konnte nicht gelesen werden.',
  'record.pass': 'Das Register hat einen Eintrag zu dem Dokument.',
  'record.fail': 'Das Register hat keinen Eintrag zu dem Dokument.',
  'record.unknown': 'Der Eintrag konnte nicht gelesen werden.',
  'supersession.pass': 'Das Dokument wurde nicht ersetzt.',
  'supersession.fail': 'Das Dokument wurde ersetzt.',
  'supersession.unknown': 'Ob es ersetzt wurde, konnte nicht gelesen werden.',
  'revocation.pass': 'Das Dokument wurde nicht widerrufen.',
  'revocation.fail': 'Das Dokument wurde widerrufen.',
  'revocation.unknown': 'Ob es widerrufen wurde, konnte nicht gelesen werden.',
  'issuer.pass':
    'Der Schlüssel, mit dem es ausgestellt wurde, ist nicht als gestohlen gemeldet.',
  'issuer.fail':
    'Der Schlüssel, mit dem es ausgestellt wurde, ist als gestohlen gemeldet.',
  'issuer.unknown': 'Der Aussteller konnte nicht gelesen werden.',
  'payload.pass':
    'Der Inhalt wurde gefunden und ist aufs Zeichen genau der eingetragene.',
  'payload.fail': 'Der Inhalt wurde gelöscht.',
  'payload.unknown': 'Der Inhalt war nicht zu bekommen.',
  'key.pass': 'Der Schlüssel in der Nummer öffnet den Inhalt.',
  'key.fail': 'Der Schlüssel in der Nummer öffnet den Inhalt nicht.',
  'key.unknown': 'Ob der Schlüssel den Inhalt öffnet, ist nicht bekannt.',
  'content.pass':
    'Der Inhalt gehört zu diesem Register, diesem Aussteller und diesem Ablaufdatum.',
  'content.fail':
    'Der Inhalt verletzt das Format oder gehört zu einem anderen Register, Aussteller oder Ablaufdatum.',
  'content.unknown': 'Was der Inhalt sagt, ist nicht bekannt.',
  'expiry.pass': 'Das Dokument ist nicht abgelaufen.',
  'expiry.fail': 'Das Dokument ist abgelaufen.',
  'expiry.unknown': 'Ob es abgelaufen ist, ist nicht bekannt.',
  'event.pass':
    'Die Transaktion, mit der es ausgestellt wurde, wurde gefunden.',
  'event.unknown':
    'Die Transaktion, mit der es ausgestellt wurde, wurde nicht gefunden. Das ändert am Ergebnis nichts.',
  'event.contradicts':
    'Die Transaktion, mit der es ausgestellt wurde, passt nicht zum Eintrag. Das ändert am Ergebnis nichts.',
  'event.unproven':
    'Die Transaktion, mit der es ausgestellt wurde, kann eine Nachweisdatei nicht beweisen. Das ändert am Ergebnis nichts.',
  'why.rpc_unreachable': 'Der Knoten antwortet nicht.',
  'why.rpc_error': 'Der Knoten antwortet mit einem Fehler.',
  'why.no_registry':
    'An der Adresse, der diese Seite vertraut, ist kein Register.',
  'why.wrong_chain': 'Der Knoten gehört zu einer anderen Blockchain.',
  'why.head_stale': 'Der Knoten hinkt nach: Sein neuester Block ist zu alt.',
  'why.missing': 'Keine der befragten Stellen hat den Inhalt.',
  'why.unreachable':
    'Die Stellen, die den Inhalt aufbewahren, antworten nicht.',
  'why.wrong_bytes': 'Der gelieferte Inhalt ist nicht der eingetragene.',
  'why.other_code':
    'An der Adresse des Registers ist ein anderes Programm als erwartet.',
  'why.other_registry':
    'Der Nachweis handelt von einem anderen Register als dem, dem diese Seite vertraut.',
  'why.block_untrusted':
    'Ob der Block des Nachweises zur Blockchain gehört, ist nicht bekannt: Kein Knoten hat es bestätigt.',
  'why.proof_invalid': 'Der Nachweis beweist nichts.',
  'why.proof_unavailable': 'Der Knoten gibt keine Nachweise.',
  'why.endpoints_disagree': 'Die Knoten widersprechen einander.',
  'why.state_unavailable': 'Der Knoten hat den Stand jenes Blocks nicht mehr.',
  'why.offline': 'Dieses Gerät ist offline.',
  'reason.unspecified': 'keiner angegeben',
  'reason.keyCompromise': 'ein Schlüssel geriet in fremde Hände',
  'reason.cACompromise': 'der Aussteller wurde kompromittiert',
  'reason.affiliationChanged': 'die Zugehörigkeit hat sich geändert',
  'reason.superseded': 'durch ein anderes ersetzt',
  'reason.cessationOfOperation': 'nicht mehr in Gebrauch',
  'reason.privilegeWithdrawn': 'die Berechtigung wurde entzogen',
  'reason.aACompromise': 'die Behörde wurde kompromittiert',
  'trust.heading': 'Worauf das beruht',
  'trust.qr':
    'Ein QR-Code beweist für sich nichts. Er kann auf die Seite eines Fälschers führen, die aussieht wie diese und „gültig“ sagt. Öffnen Sie eine Seite, deren Adresse Sie kennen, und vergleichen Sie das Register mit dem, das der Aussteller öffentlich nennt.',
  'trust.other':
    'Der Link nennt ein anderes Register, {registry}. Diese Seite vertraut ihm nicht und hat es nicht gefragt: Das Ergebnis handelt allein vom unten genannten Register.',
  'trust.insecure':
    'Diese Seite kam über eine unverschlüsselte Verbindung. Jeder im Netz könnte sie verändert haben.',
  'trust.registry': 'Register',
  'trust.rpc': 'Knoten der Blockchain',
  'trust.ipfs': 'Wo Inhalte gesucht werden',
  'trust.service': 'der Dienst hinter dieser Seite',
  'trust.depends':
    'Ein Knoten kann lügen. Um von niemandem abzuhängen, nennen Sie eigene Knoten oder solche mehrerer Leute, die einander nicht kennen.',
  'trust.quorum': 'Von {count} Knoten müssen {quorum} dieselbe Antwort geben.',
  'trust.hash': 'Hash des Dokuments',
  'trust.transaction': 'Transaktion',
  'trust.none': 'noch nicht genannt',
  'sources.heading': 'Wählen, wer gefragt wird',
  'sources.registry': 'Register, dem Sie vertrauen',
  'sources.registry.hint':
    'Aus den Veröffentlichungen des Ausstellers selbst, nie aus einem QR-Code. In der Form eip155:1:0x…',
  'sources.rpc': 'Knoten der Blockchain (JSON-RPC), je Zeile einer',
  'sources.ipfs': 'IPFS-Gateways, je Zeile eines',
  'sources.use': 'Diese benutzen',
  'sources.reset': 'Zurück zu denen dieser Seite',
  'sources.bad.registry':
    'Kein Register: Es muss aussehen wie eip155:1:0x und 40 Ziffern.',
  'sources.bad.rpc':
    'Jede Zeile muss eine Adresse sein, die mit https:// oder http:// beginnt.',
  'sources.bad.ipfs':
    'Jede Zeile muss eine Adresse sein, die mit https:// oder http:// beginnt.',
  'sources.kept':
    'Knoten und Gateways merkt sich dieser Browser; Nummern von Dokumenten nie.',
}
