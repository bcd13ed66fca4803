import type { Texts } from './en.ts'

export const de: Texts = {
  title: 'Dokumentprüfung',
  language: 'Sprache',
  'own.label': 'Adresse dieser Seite:',
  'own.hint':
    'Zeigt die Adresszeile Ihres Browsers dasselbe? Und kennen Sie diese Adresse? Die Seite eines Fälschers kann genauso aussehen wie diese.',
  'own.file': 'Eine Datei auf diesem Gerät',
  'own.file.hint':
    'Achten Sie darauf, von wem Sie sie haben: Die Seite eines Fälschers kann genauso aussehen wie diese.',
  'ask.heading': 'Ist dieses Dokument echt?',
  'ask.lead':
    'Geben Sie den Code des Dokuments ein oder zeigen Sie seinen QR-Code. Ihr Browser prüft es selbst an der Blockchain; der Name auf dem Dokument wird an niemanden gesendet.',
  'ask.label': 'Code oder Link des Dokuments',
  'ask.check': 'Prüfen',
  'ask.camera': 'Mit der Kamera scannen',
  'ask.file': 'Bild oder Datei wählen',
  'ask.wallet': 'Eine Wallet fragen',
  'ask.drop':
    'Sie können ein Bild des QR-Codes, eine Urkunde als PDF, eine Nachweisdatei, einen Auszug oder einen Nachweis aus einer Wallet auch auf diese Seite ziehen.',
  'ask.another': 'Ein anderes Dokument prüfen',
  'camera.hold': 'Halten Sie den QR-Code vor die Kamera. Das Bild bleibt auf diesem Gerät.',
  'camera.stop': 'Kamera ausschalten',
  'camera.alt': 'Bild der Kamera',
  'error.empty': 'Geben Sie zuerst den Code des Dokuments ein.',
  'error.malformed':
    'Das ist kein Code eines Dokuments. Kopieren Sie ihn noch einmal, und zwar vollständig.',
  'error.mistyped':
    'In diesem Code ist ein Tippfehler: Die Prüfziffern passen nicht. Kopieren Sie ihn noch einmal.',
  'error.several': 'Hier stehen mehrere Codes von Dokumenten. Geben Sie nur einen davon ein.',
  'error.kind': 'Diese Seite kennt Dokumente dieser Art nicht.',
  'error.noQr':
    'In diesem Bild wurde kein QR-Code gefunden. Nehmen Sie ihn scharf, gerade und aus der Nähe auf.',
  'error.notOurs': 'Dieser QR-Code enthält keinen Code eines Dokuments.',
  'error.file':
    'Diese Datei ist weder ein Bild noch eine Nachweisdatei, ein Auszug oder ein Nachweis aus einer Wallet.',
  'error.pdf':
    'An dieser PDF-Datei hängt keine Nachweisdatei, oder sie ist beschädigt. Zeigen Sie stattdessen den QR-Code, der darauf gedruckt ist.',
  'error.bundle': 'Das ist keine Nachweisdatei, oder sie ist beschädigt.',
  'error.excerpt': 'Das ist kein Auszug aus einem Dokument, oder er ist beschädigt.',
  'error.credential': 'Das ist kein Nachweis über ein Dokument, oder er ist beschädigt.',
  'error.wallet': 'Keine Wallet hat einen Nachweis gezeigt.',
  'error.camera':
    'Die Kamera kann nicht benutzt werden. Erlauben Sie sie im Browser, oder wählen Sie ein Bild.',
  'error.internal':
    'Auf dieser Seite ist etwas schiefgegangen. Über das Dokument sagt das nichts aus.',
  'error.sources': 'Nennen Sie zuerst das Register, dem Sie vertrauen, und wo gefragt werden soll.',
  checking: 'Wird geprüft …',
  'valid.title': 'Gültig',
  'valid.text': 'Es wurde nicht zurückgezogen und ist nicht abgelaufen.',
  'valid.asking': 'Ausgestellt und unverändert',
  'valid.denied': 'Die Domain, die der Aussteller nennt, bestätigt ihn nicht',
  'valid.notListed':
    'Die Domain des Ausstellers führt das Konto nicht auf, mit dem es ausgestellt wurde',
  'valid.unconfirmed':
    'Ausgestellt und unverändert, aber niemand bestätigt, wer der Aussteller ist',
  'valid.pdf': 'Vergleichen Sie jeden Eintrag: Was gedruckt ist, hat niemand geprüft',
  'valid.future': 'Ausgestellt und unverändert, aber mit einem Datum in der Zukunft',
  'valid.past': 'War am {date} gültig, seither nicht geprüft',
  'valid.past.text':
    'Es kann inzwischen zurückgezogen worden sein. Prüfen Sie es noch einmal, bevor Sie sich darauf verlassen.',
  'not_issued.title': 'Nie ausgestellt',
  'not_issued.text':
    'Das Register, dem diese Seite vertraut, hat keinen Eintrag zu diesem Dokument. Wurde es eben erst ausgestellt, versuchen Sie es in einer Minute noch einmal.',
  'not_issued.past': 'Bis {date} nicht ausgestellt, seither nicht geprüft',
  'not_issued.past.text':
    'Das Register hatte damals keinen Eintrag zu diesem Dokument. Es kann inzwischen ausgestellt worden sein.',
  'superseded.title': 'Ersetzt',
  'superseded.text': 'Der Aussteller hat es am {date} ersetzt.',
  'superseded.ask':
    'Verlangen Sie das neuere von der Person, die es Ihnen gegeben hat, oder vom Aussteller.',
  'superseded.held': 'Das neuere haben Sie auf dieser Seite schon geöffnet.',
  'superseded.open': 'Das neuere zeigen',
  'revoked.title': 'Widerrufen',
  'revoked.text': 'Der Aussteller hat es am {date} endgültig zurückgezogen. Grund: {reason}.',
  'suspended.title': 'Ausgesetzt',
  'suspended.text':
    'Der Aussteller hat es am {date} vorläufig ausgesetzt. Verlassen Sie sich nicht darauf: Er kann es wieder freigeben oder endgültig zurückziehen.',
  'suspended.released':
    'Es wurde am {date} freigegeben, aber mit einem Schlüssel, der als gestohlen gemeldet ist. Verlassen Sie sich nicht darauf: Es gilt als ausgesetzt, bis der Aussteller es noch einmal freigibt.',
  'suspended.past': 'War am {date} ausgesetzt, seither nicht geprüft',
  'suspended.past.text':
    'Der Aussteller kann es inzwischen freigegeben oder zurückgezogen haben. Prüfen Sie es noch einmal.',
  'distrusted.title': 'Nicht vertrauenswürdig',
  'distrusted.text':
    'Es wurde mit einem Schlüssel ausgestellt, der seit einem früheren Zeitpunkt als gestohlen gemeldet ist. Verlangen Sie vom Aussteller ein neues Dokument.',
  'setAside.notice':
    'Ein Widerruf dieses Dokuments wurde aufgehoben, weil der Schlüssel, mit dem er erfolgte, als gestohlen gemeldet ist. Fragen Sie im Zweifel den Aussteller.',
  'revoker.notice':
    'Das geschah mit einem Schlüssel des Ausstellers, der ab Block {block} als gestohlen gemeldet ist: {account}. Fragen Sie den Aussteller.',
  'closed.notice':
    'Der Verwalter des Registers hat diesen Aussteller stillgelegt (Block {block}). Er stellt nichts mehr aus. Fragen Sie im Zweifel den Aussteller.',
  'erased.title': 'Gelöscht',
  'erased.text':
    'Unter diesem Code ist ein Dokument eingetragen, aber sein Inhalt wurde gelöscht. Es lässt sich nicht mehr prüfen.',
  'erased.here':
    'Der Dienst hinter dieser Seite sagt, er habe den Inhalt gelöscht. Das ist allein sein Wort.',
  'wrong_key.title': 'Dieser Code öffnet das Dokument nicht',
  'wrong_key.text':
    'Es gibt einen Eintrag, aber der Schlüssel in diesem Code passt nicht dazu. Der Code wurde verändert, oder Teile zweier Codes wurden vermischt. Lassen Sie sich den richtigen Code geben.',
  'tampered.title': 'Nicht echt',
  'tampered.text':
    'Unter diesem Code ist etwas eingetragen, aber es ist kein echtes Dokument des Ausstellers, den es nennt. Verlassen Sie sich nicht darauf.',
  'expired.title': 'Abgelaufen',
  'expired.text': 'Es war nur bis zum {date} gültig.',
  'unverifiable.title': 'Nicht prüfbar',
  'unverifiable.text': 'Über das Dokument sagt das nichts aus: Es kann gültig sein oder nicht.',
  'unverifiable.recorded':
    'Das Dokument wurde nicht zurückgezogen. Aber sein Inhalt ist nicht verfügbar: Was darin steht, lässt sich nicht prüfen.',
  retry: 'Noch einmal versuchen',
  'bundle.label': 'Hash des Blocks {block} vom {date}, von jemandem, dem Sie vertrauen',
  'bundle.check': 'Den Nachweis damit prüfen',
  'bundle.bad': 'Das ist kein Hash eines Blocks: Er muss aus 0x und 64 Ziffern bestehen.',
  print: 'Drucken',
  copy: 'Code kopieren',
  copied: 'Kopiert',
  copyFailed: 'Kopieren ist hier nicht möglich',
  download: 'Nachweis speichern',
  downloadFailed: 'Die Knoten geben keinen Nachweis',
  secret:
    'Wer den Code eines Dokuments hat, kann das Dokument lesen. Geben Sie ihn mit Bedacht weiter.',
  'network.name': 'Test- oder unbekanntes Netz',
  'network.test': 'Testnetz, oder eines, das nicht für echte Dokumente bekannt ist',
  'parties.issued': 'Ausgestellt für {name}.',
  'parties.recorded': 'Das Register hat einen Eintrag vom {date}.',
  'issuer.same':
    'Vergleichen Sie sie mit der Adresse, die Sie kennen: Einen Namen kann sich jeder geben.',
  'issuer.none':
    'Der Aussteller hat keine Adresse eintragen lassen: Es gibt niemanden, den man fragen könnte.',
  'issuer.calls': 'Der Aussteller nennt sich {issuer}.',
  'issuer.nobody': 'Keine Domain bestätigt, wer der Aussteller ist.',
  'domain.confirmed': 'Der Aussteller ist bestätigt von der Domain',
  'domain.linked':
    'Diese Domain bestätigt den Aussteller, der sich {issuer} nennt. Ist es die Domain, die Sie erwarten?',
  'domain.asking': 'Diese Domain wird gefragt, ob sie den Aussteller bestätigt …',
  'domain.denied':
    'Warnung: Der Aussteller nennt diese Domain, aber sie bestätigt ihn nicht. Vielleicht benutzt jemand ihren Namen. Fragen Sie dort nach, bevor Sie sich auf dieses Dokument verlassen.',
  'domain.not_listed':
    'Warnung: Diese Domain kennt den Aussteller, aber nicht das Konto, mit dem dieses Dokument ausgestellt wurde. Fragen Sie dort nach, bevor Sie sich darauf verlassen.',
  'domain.unreachable': 'Diese Adresse gibt er an. Sie konnte nicht gefragt werden.',
  'domain.malformed':
    'Diese Adresse gibt er an. Was dort über ihn veröffentlicht ist, lässt sich nicht lesen.',
  'domain.not_asked': 'Diese Adresse gibt er an. Diese Seite hat sie nicht gefragt.',
  'domain.no_domain': 'Diese Adresse gibt er an. Sie ist keine Domain, die man fragen kann.',
  'document.heading': 'Das Dokument',
  'document.valid': 'Das Dokument unten ist gültig.',
  'document.compare':
    'Vergleichen Sie jeden Eintrag mit PDF oder Papier: Dort kann alles stehen. Was gilt, steht hier.',
  'document.unread': 'Was darin steht, kann nicht gezeigt werden: Der Inhalt ist nicht verfügbar.',
  'document.subjectName': 'Name',
  'document.subjectId': 'Kennnummer',
  'document.category': 'Art des Dokuments',
  'document.issuedAt': 'Ausgestellt am',
  'document.expiresAt': 'Gültig bis',
  'document.never': 'unbefristet',
  'document.supersedes': 'Ersetzt das Dokument mit dem Hash',
  'document.metadata': 'Weitere Angaben',
  'document.issuersWords':
    'Die Bezeichnungen vorn sind Worte des Ausstellers und beweisen nichts. Die kleinen dahinter stehen im Dokument.',
  'excerpt.mark': 'Auszug aus einem Dokument',
  'excerpt.heading': 'Auszug aus dem Dokument',
  'excerpt.only': 'Wer dieses Dokument hat, zeigt davon nur diese Felder.',
  'excerpt.nothing': 'Es wird kein Feld gezeigt.',
  'excerpt.save': 'Auszug speichern',
  'excerpt.passOn': 'Wer diesen Auszug hat, kann ihn wieder prüfen und weitergeben.',
  'share.heading': 'Nur einige Felder weitergeben',
  'share.lead':
    'Haken Sie an, was gesehen werden darf. Sie erhalten einen Auszug als Datei, als Link und, wenn er hineinpasst, als QR-Code.',
  'share.fields': 'Felder, die gezeigt werden',
  'share.learns':
    'Zu erfahren sind diese Felder, wer das Dokument wann ausgestellt hat und bis wann es gilt; ob es noch gilt, lässt sich jederzeit prüfen. Über die anderen Felder ist nichts zu erfahren. So zeigen Sie weniger, aber anonym werden Sie dadurch nicht: Dass zwei Auszüge aus einem Dokument stammen, kann jeder erkennen, und wer einen erhält, kann ihn weitergeben.',
  'share.none': 'Haken Sie mindestens ein Feld an.',
  'share.make': 'Auszug erstellen',
  'share.ready': 'Der Auszug ist fertig',
  'share.file': 'Als Datei speichern',
  'share.link': 'Link kopieren',
  'share.qr': 'QR-Code des Auszugs',
  'share.noQr': 'Für einen QR-Code ist er zu lang.',
  'share.noLink':
    'Diese Seite ist eine Datei und hat keine Adresse: Einen Link gibt es deshalb nicht.',
  'wallet.heading': 'In eine Wallet legen',
  'wallet.lead':
    'Eine Wallet-App für digitale Nachweise kann dieses Dokument aufbewahren und nur einige seiner Felder zeigen. Diese Schaltfläche bittet den Dienst des Ausstellers um ein Angebot.',
  'wallet.learns':
    'Der Dienst erfährt, dass Sie es abholen, aber nicht, wem Sie es zeigen. Wer prüft, was die Wallet zeigt, erkennt, dass es immer dasselbe Dokument ist.',
  'wallet.make': 'Um ein Angebot bitten',
  'wallet.ready': 'Das Angebot ist bereit',
  'wallet.open': 'Wallet auf diesem Gerät öffnen',
  'wallet.other': 'Die Wallet lehnt es ab? In der anderen Form anbieten',
  'wallet.qr': 'QR-Code des Angebots für die Wallet',
  'wallet.hint':
    'Scannen Sie ihn mit dem Telefon, auf dem die Wallet ist. Das Angebot gilt für eine Wallet und zehn Minuten.',
  'wallet.failed':
    'Es kam kein Angebot. Versuchen Sie es später noch einmal oder fragen Sie den Aussteller.',
  asOf: 'Block {block}, {time}',
  'asOf.bundle': 'Aus einer Nachweisdatei: Stand vom {time}.',
  'checked.now': 'Gerade eben geprüft',
  'checked.ago': 'Geprüft {ago}',
  'waiting.chain': 'Die Blockchain lässt auf sich warten: noch keine Antwort von {hosts}.',
  'waiting.content':
    'Das Register hat einen Eintrag. Der Inhalt des Dokuments lässt auf sich warten: noch keine Antwort von {hosts}.',
  'statement.heading': 'In der Nachweisdatei',
  'statement.text': 'Die geöffnete Datei zeigt den Stand vom {date}: {status}.',
  'statement.later': 'Was seither geschehen ist, steht nicht darin. Es gilt das Ergebnis oben.',
  'statement.unusable': 'Die geöffnete Datei beweist hier nichts.',
  'printed.page': 'Geprüft auf der Seite',
  'printed.time': 'Zeit der Prüfung',
  'printed.file': 'eine Datei auf einem Gerät',
  'checks.heading': 'Was geprüft wurde',
  'checks.pass': 'Bestanden',
  'checks.fail': 'Nicht bestanden',
  'checks.unknown': 'Nicht prüfbar',
  'checks.passed': '{passed} von {count} Prüfungen bestanden',
  'checks.running': 'Bisher bestandene Prüfungen: {passed}',
  'chain.pass': 'Die Blockchain wurde gelesen und ist auf dem neuesten Stand.',
  'chain.proven': 'Was das Register bei jenem Block sagte, ist bewiesen.',
  'chain.unknown': 'Die Blockchain konnte nicht gelesen werden.',
  'batch.pass': 'Die Liste, mit der das Dokument ausgestellt wurde, wurde gefunden.',
  'batch.fail':
    'Die Liste, mit der das Dokument ausgestellt wurde, ist beschädigt oder gehört zu einem anderen Register oder Aussteller.',
  'batch.unknown': 'Die Liste, mit der das Dokument ausgestellt wurde, ist nicht verfügbar.',
  'record.pass': 'Das Register hat einen Eintrag zu dem Dokument.',
  'record.fail': 'Das Register hat keinen Eintrag zu dem Dokument.',
  'supersession.pass': 'Das Dokument wurde nicht ersetzt.',
  'supersession.fail': 'Das Dokument wurde ersetzt.',
  'revocation.pass': 'Das Dokument wurde nicht widerrufen.',
  'revocation.fail': 'Das Dokument wurde widerrufen.',
  'suspension.pass': 'Das Dokument ist nicht ausgesetzt.',
  'suspension.fail': 'Das Dokument ist ausgesetzt.',
  'issuer.pass': 'Der Schlüssel, mit dem es ausgestellt wurde, ist nicht als gestohlen gemeldet.',
  'issuer.fail': 'Der Schlüssel, mit dem es ausgestellt wurde, ist als gestohlen gemeldet.',
  'identity.pass': 'Die Domain des Ausstellers bestätigt den Aussteller.',
  'identity.denied': 'Die Domain, die der Aussteller nennt, bestätigt ihn nicht.',
  'identity.account_not_listed':
    'Die Domain des Ausstellers führt das Konto nicht auf, mit dem es ausgestellt wurde.',
  'identity.no_domain': 'Der Aussteller nennt keine Domain, die man fragen könnte.',
  'identity.unreachable': 'Die Domain des Ausstellers konnte nicht gefragt werden.',
  'identity.malformed':
    'Was die Domain über den Aussteller veröffentlicht, lässt sich nicht lesen.',
  'identity.not_asked': 'Die Domain des Ausstellers wurde nicht gefragt.',
  'credential.pass': 'Die Domain des Ausstellers hat diesen Nachweis unterschrieben.',
  'credential.holder':
    'Die Domain des Ausstellers hat diesen Nachweis unterschrieben, und der Schlüssel der Wallet das, was gezeigt wird.',
  'credential.fail': 'Die Domain des Ausstellers hat diesen Nachweis so nicht unterschrieben.',
  'credential.holder_invalid':
    'Der Schlüssel der Wallet hat nicht unterschrieben, was gezeigt wird.',
  'credential.holder_missing': 'Der Schlüssel der Wallet hat nichts unterschrieben.',
  'credential.unknown':
    'Ob die Domain des Ausstellers diesen Nachweis unterschrieben hat, konnte nicht geprüft werden.',
  'payload.pass': 'Der Inhalt wurde gefunden und ist aufs Zeichen genau der eingetragene.',
  'payload.fail': 'Der Inhalt wurde gelöscht.',
  'payload.unknown': 'Der Inhalt ist nicht verfügbar.',
  'key.pass': 'Der Schlüssel im Code öffnet den Inhalt.',
  'key.fail': 'Der Schlüssel im Code öffnet den Inhalt nicht.',
  'content.pass': 'Der Inhalt gehört zu diesem Register, diesem Aussteller und diesem Ablaufdatum.',
  'content.fail':
    'Der Inhalt verletzt das Format, passt nicht zu den Fingerabdrücken seiner Felder oder gehört zu einem anderen Register, Aussteller oder Ablaufdatum.',
  'content.unknown': 'Was der Inhalt sagt, ist nicht bekannt.',
  'expiry.pass': 'Das Dokument ist nicht abgelaufen.',
  'expiry.fail': 'Das Dokument ist abgelaufen.',
  'dating.pass': 'Das Ausstellungsdatum liegt nicht in der Zukunft.',
  'dating.fail': 'Das Ausstellungsdatum liegt in der Zukunft.',
  'dating.notice': 'Das Datum dieses Dokuments liegt in der Zukunft: {date}.',
  'event.pass': 'Die Transaktion, mit der es ausgestellt wurde, wurde gefunden.',
  'event.unknown':
    'Die Transaktion, mit der es ausgestellt wurde, wurde nicht gefunden. Das ändert am Ergebnis nichts.',
  'event.contradicts':
    'Die Transaktion, mit der es ausgestellt wurde, passt nicht zum Eintrag. Das ändert am Ergebnis nichts.',
  'event.pruned':
    'Die Knoten bewahren die Transaktion nicht mehr auf, mit der es ausgestellt wurde. Das ist bei einem älteren Dokument normal und ändert am Ergebnis nichts.',
  'event.unreachable':
    'Die Transaktion, mit der es ausgestellt wurde, konnte nicht nachgesehen werden. Das ändert am Ergebnis nichts.',
  'event.unproven':
    'Die Transaktion, mit der es ausgestellt wurde, kann eine Nachweisdatei nicht beweisen. Das ändert am Ergebnis nichts.',
  'why.rpc_unreachable': 'Der Knoten antwortet nicht.',
  'why.rpc_error': 'Der Knoten antwortet mit einem Fehler.',
  'why.no_registry': 'An der Adresse, der diese Seite vertraut, ist kein Register.',
  'why.wrong_chain': 'Der Knoten gehört zu einer anderen Blockchain.',
  'why.head_stale': 'Der Knoten hinkt nach: Sein neuester Block ist zu alt.',
  'why.missing': 'Keine der befragten Stellen hat den Inhalt.',
  'why.unreachable': 'Die Stellen, die den Inhalt aufbewahren, antworten nicht.',
  'why.wrong_bytes': 'Der gelieferte Inhalt ist nicht der eingetragene.',
  'why.other_code': 'An der Adresse des Registers ist ein anderes Programm als erwartet.',
  'why.other_registry':
    'Der Nachweis handelt von einem anderen Register als dem, dem diese Seite vertraut.',
  'why.block_untrusted':
    'Ob der Block des Nachweises zur Blockchain gehört, ist nicht bekannt: Kein Knoten hat es bestätigt.',
  'why.proof_invalid': 'Der Nachweis beweist nichts.',
  'why.proof_unavailable': 'Der Knoten gibt keine Nachweise.',
  'why.endpoints_disagree': 'Die Knoten widersprechen einander.',
  'why.state_unavailable': 'Der Knoten hat den Stand jenes Blocks nicht mehr.',
  'why.batch_unknown':
    'Die Nachweisdatei enthält die Liste nicht, mit der das Dokument ausgestellt wurde.',
  'why.offline': 'Dieses Gerät ist offline.',
  'why.no_nodes': 'Es ist kein Knoten der Blockchain genannt, der gefragt werden könnte.',
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
    'Der Link oder die Nachweisdatei nennt ein anderes Register, {registry}. Diese Seite vertraut ihm nicht und hat es nicht gefragt: Das Ergebnis handelt allein vom unten genannten Register.',
  'trust.insecure':
    'Diese Seite kam über eine unverschlüsselte Verbindung. Jeder im Netz könnte sie verändert haben.',
  'trust.registry': 'Register',
  'trust.rpc': 'Knoten der Blockchain',
  'trust.ipfs': 'Wo Inhalte gesucht werden',
  'trust.service': 'der Dienst hinter dieser Seite',
  'trust.depends':
    'Ein Knoten kann lügen. Um von niemandem abzuhängen, nennen Sie eigene Knoten oder solche mehrerer Leute, die einander nicht kennen.',
  'trust.quorum': 'Von {count} Knoten müssen {quorum} dieselbe Antwort geben.',
  'trust.details': 'Technische Einzelheiten',
  'trust.issuer': 'Eingetragener Aussteller',
  'trust.uri': 'Adresse des Ausstellers',
  'trust.account': 'Konto des Ausstellers',
  'trust.added': 'Konto im Register seit Block',
  'trust.age': '{block} ({before} Blöcke, bevor es dies ausgestellt hat)',
  'trust.setAside': 'Widerrufe, die nach einem Diebstahl aufgehoben wurden',
  'trust.setAside.true': 'mindestens einer',
  'trust.setAside.false': 'keine',
  'trust.block': 'Stand des Registers',
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
  'sources.bad.registry': 'Kein Register: Es muss aussehen wie eip155:1:0x und 40 Ziffern.',
  'sources.bad.rpc': 'Jede Zeile muss eine Adresse sein, die mit https:// oder http:// beginnt.',
  'sources.bad.ipfs': 'Jede Zeile muss eine Adresse sein, die mit https:// oder http:// beginnt.',
  'sources.identity': 'Die Domain des Ausstellers fragen, ob sie ihn bestätigt.',
  'sources.identity.hint':
    'Die Domain erfährt dann, dass jemand ein Dokument dieses Ausstellers ansieht, aber nicht, welches.',
  'sources.kept': 'Ihre Wahl merkt sich dieser Browser; Codes von Dokumenten nie.',
}
