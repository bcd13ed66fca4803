import type { Texts } from './en.ts'

export const fr: Texts = {
  title: 'Vérification de document',
  language: 'Langue',
  'own.label': 'Adresse de cette page :',
  'own.hint':
    'La barre d’adresse de votre navigateur affiche-t-elle la même chose ? Et connaissez-vous cette adresse ? La page d’un faussaire peut ressembler trait pour trait à celle-ci.',
  'own.file': 'Un fichier sur cet appareil',
  'own.file.hint':
    'Assurez-vous qu’il vient de quelqu’un de confiance : la page d’un faussaire peut ressembler trait pour trait à celle-ci.',
  'ask.heading': 'Ce document est-il authentique ?',
  'ask.lead':
    'Saisissez le code du document, ou montrez son code QR. Votre navigateur le vérifie lui-même sur la blockchain ; le nom qui figure sur le document n’est envoyé à personne.',
  'ask.label': 'Code ou lien du document',
  'ask.check': 'Vérifier',
  'ask.camera': 'Scanner avec la caméra',
  'ask.file': 'Choisir une image ou un fichier',
  'ask.drop':
    'Vous pouvez aussi déposer sur cette page une image du code QR, un fichier de preuve ou un extrait.',
  'ask.another': 'Vérifier un autre document',
  'camera.hold':
    'Placez le code QR devant la caméra. L’image reste sur cet appareil.',
  'camera.stop': 'Arrêter la caméra',
  'camera.alt': 'Image de la caméra',
  'error.empty': 'Saisissez d’abord le code du document.',
  'error.malformed':
    'Ce n’est pas le code d’un document. Copiez-le de nouveau, en entier.',
  'error.mistyped':
    'Ce code contient une faute de frappe : ses chiffres de contrôle ne concordent pas. Copiez-le de nouveau.',
  'error.kind': 'Cette page ne connaît pas les documents de ce genre.',
  'error.noQr':
    'Aucun code QR n’a été trouvé dans cette image. Prenez-en une nette, droite et de près.',
  'error.notOurs': 'Ce code QR ne contient pas le code d’un document.',
  'error.file':
    'Ce fichier n’est ni une image, ni un fichier de preuve, ni un extrait.',
  'error.bundle': 'Ce n’est pas un fichier de preuve, ou il est endommagé.',
  'error.excerpt': 'Ce n’est pas un extrait de document, ou il est endommagé.',
  'error.camera':
    'La caméra ne peut pas être utilisée. Autorisez-la dans le navigateur, ou choisissez une image.',
  'error.internal':
    'Une erreur s’est produite sur cette page. Cela ne dit rien du document.',
  'error.sources':
    'Indiquez d’abord le registre auquel vous faites confiance, et où demander.',
  checking: 'Vérification en cours …',
  'valid.title': 'Valide',
  'valid.text': 'Il n’a pas été retiré et n’a pas expiré.',
  'valid.past': 'Était valide le {date}, non vérifié depuis',
  'valid.past.text':
    'Il a pu être retiré depuis. Vérifiez-le de nouveau avant de vous y fier.',
  'not_issued.title': 'Jamais délivré',
  'not_issued.text':
    'Le registre auquel cette page fait confiance n’a aucune inscription de ce document. S’il vient d’être délivré, réessayez dans une minute.',
  'not_issued.past': 'Pas encore délivré le {date}, non vérifié depuis',
  'not_issued.past.text':
    'Le registre n’avait alors aucune inscription de ce document. Il a pu être délivré depuis.',
  'superseded.title': 'Remplacé',
  'superseded.text':
    'L’émetteur l’a remplacé le {date}. Demandez le plus récent.',
  'revoked.title': 'Révoqué',
  'revoked.text':
    'L’émetteur l’a retiré définitivement le {date}. Motif : {reason}.',
  'suspended.title': 'Suspendu',
  'suspended.text':
    'L’émetteur l’a suspendu le {date}. Ne vous y fiez pas : il peut le rétablir ou le retirer définitivement.',
  'suspended.past': 'Était suspendu le {date}, non vérifié depuis',
  'suspended.past.text':
    'L’émetteur a pu le rétablir depuis, ou le retirer. Vérifiez-le de nouveau.',
  'distrusted.title': 'Non fiable',
  'distrusted.text':
    'Il a été délivré avec une clé signalée volée depuis une date antérieure. Demandez un nouveau document à l’émetteur.',
  'setAside.notice':
    'Une révocation de ce document a été annulée, car la clé qui l’a faite est signalée volée. En cas de doute, demandez à l’émetteur.',
  'erased.title': 'Effacé',
  'erased.text':
    'Un document est inscrit sous ce code, mais son contenu a été effacé. Il ne peut plus être vérifié.',
  'erased.here':
    'Le service derrière cette page dit avoir effacé le contenu. Ce n’est que sa parole.',
  'wrong_key.title': 'Ce code n’ouvre pas le document',
  'wrong_key.text':
    'Il existe une inscription, mais la clé contenue dans ce code n’y correspond pas. Le code a été modifié, ou deux codes ont été mélangés. Demandez le bon code.',
  'tampered.title': 'Non authentique',
  'tampered.text':
    'Quelque chose est inscrit sous ce code, mais ce n’est pas un document authentique de l’émetteur qu’il nomme. Ne vous y fiez pas.',
  'expired.title': 'Expiré',
  'expired.text': 'Il n’était valable que jusqu’au {date}.',
  'unverifiable.title': 'Vérification impossible',
  'unverifiable.text':
    'Cela ne dit rien du document : il peut être valide ou non.',
  'unverifiable.recorded':
    'Le document n’a pas été retiré. Mais son contenu n’est pas disponible : ce qu’il dit ne peut pas être vérifié.',
  retry: 'Réessayer',
  'bundle.label':
    'Hash du bloc {block} du {date}, donné par quelqu’un de confiance',
  'bundle.check': 'Vérifier la preuve avec ce hash',
  'bundle.bad': 'Ce n’est pas le hash d’un bloc : il faut 0x et 64 chiffres.',
  print: 'Imprimer',
  copy: 'Copier le code',
  copied: 'Copié',
  copyFailed: 'La copie n’est pas possible ici',
  download: 'Enregistrer la preuve',
  downloadFailed: 'Les nœuds ne donnent pas de preuve',
  secret:
    'Quiconque a le code d’un document peut lire le document. Transmettez-le avec prudence.',
  'network.name': 'Réseau de test',
  'network.test': 'Réseau de test : ce n’est pas un vrai document',
  'parties.issued': 'Délivré à {name}.',
  'parties.recorded': 'Le registre contient une inscription du {date}.',
  'issuer.same':
    'Comparez-la avec l’adresse que vous connaissez : chacun peut choisir un nom.',
  'issuer.none':
    'L’émetteur n’a pas enregistré d’adresse : il n’y a personne à interroger.',
  'issuer.calls': 'L’émetteur se nomme {issuer}.',
  'issuer.unconfirmed':
    'L’émetteur se nomme {issuer}, ce qu’aucun domaine ne confirme.',
  'domain.confirmed': 'L’émetteur est confirmé par le domaine',
  'domain.linked':
    'Ce domaine confirme l’émetteur, qui se nomme {issuer}. Est-ce bien le domaine que vous attendez ?',
  'domain.asking': 'On demande à ce domaine s’il confirme l’émetteur …',
  'domain.denied':
    'Attention : l’émetteur indique ce domaine, mais le domaine ne le confirme pas. Quelqu’un utilise peut-être son nom. Renseignez-vous là-bas avant de vous fier à ce document.',
  'domain.not_listed':
    'Attention : ce domaine connaît l’émetteur, mais pas le compte qui a délivré ce document. Renseignez-vous là-bas avant de vous y fier.',
  'domain.unreachable':
    'C’est l’adresse qu’il indique. Elle n’a pas pu être interrogée.',
  'domain.malformed':
    'C’est l’adresse qu’il indique. Ce qui y est publié à son sujet est illisible.',
  'domain.not_asked':
    'C’est l’adresse qu’il indique. Cette page ne l’a pas interrogée.',
  'domain.no_domain':
    'C’est l’adresse qu’il indique. Ce n’est pas un domaine que l’on puisse interroger.',
  'document.heading': 'Le document',
  'document.unread':
    'Ce qu’il dit ne peut pas être affiché : le contenu n’est pas disponible.',
  'document.subjectName': 'Nom',
  'document.subjectId': 'Identifiant',
  'document.category': 'Type de document',
  'document.issuedAt': 'Date de délivrance',
  'document.expiresAt': 'Valable jusqu’au',
  'document.never': 'sans limite',
  'document.supersedes': 'Remplace le document dont l’empreinte est',
  'document.metadata': 'Autres indications',
  'excerpt.mark': 'Extrait d’un document',
  'excerpt.heading': 'Extrait du document',
  'excerpt.only': 'Le titulaire a choisi de ne montrer que ces champs.',
  'excerpt.nothing': 'Le titulaire a choisi de ne montrer aucun champ.',
  'excerpt.save': 'Enregistrer l’extrait',
  'excerpt.passOn':
    'Quiconque a cet extrait peut le vérifier de nouveau et le transmettre.',
  'share.heading': 'Ne partager que certains champs',
  'share.lead':
    'Cochez ce que le destinataire peut voir. Vous obtenez un extrait sous forme de fichier, de lien et, s’il y tient, de code QR.',
  'share.fields': 'Champs à montrer',
  'share.learns':
    'Le destinataire apprend ces champs, qui a délivré le document, quand, et jusqu’à quand il est valable ; il peut vérifier à tout moment s’il l’est encore. Il n’apprend rien des autres champs. Vous en montrez moins, mais cela ne vous rend pas anonyme : chacun peut voir que deux extraits viennent d’un même document, et quiconque en reçoit un peut le transmettre.',
  'share.none': 'Cochez au moins un champ.',
  'share.make': 'Créer l’extrait',
  'share.ready': 'L’extrait est prêt',
  'share.file': 'Enregistrer comme fichier',
  'share.link': 'Copier le lien',
  'share.qr': 'Code QR de l’extrait',
  'share.noQr': 'Il est trop long pour un code QR.',
  'share.noLink':
    'Cette page est un fichier et n’a pas d’adresse : il n’y a donc pas de lien.',
  asOf: 'Bloc {block}, {time}',
  'asOf.bundle': 'D’après un fichier de preuve : état au {time}.',
  'checked.now': 'Vérifié à l’instant',
  'checked.ago': 'Vérifié {ago}',
  'waiting.chain':
    'La blockchain se fait attendre : pas encore de réponse de {hosts}.',
  'waiting.content':
    'Le registre a une inscription. Le contenu du document se fait attendre : pas encore de réponse de {hosts}.',
  'statement.heading': 'Dans le fichier de preuve',
  'statement.text':
    'Le fichier que vous avez ouvert montre l’état au {date} : {status}.',
  'statement.later':
    'Ce qui s’est passé depuis n’y figure pas. C’est le résultat ci-dessus qui compte.',
  'statement.unusable': 'Le fichier que vous avez ouvert ne prouve rien ici.',
  'printed.page': 'Vérifié sur la page',
  'printed.time': 'Heure de la vérification',
  'printed.file': 'un fichier sur un appareil',
  'checks.heading': 'Ce qui a été vérifié',
  'checks.pass': 'Réussi',
  'checks.fail': 'Échoué',
  'checks.unknown': 'Vérification impossible',
  'checks.passed': '{passed} vérifications réussies sur {count}',
  'checks.running': 'Vérifications réussies jusqu’ici : {passed}',
  'chain.pass': 'La blockchain a été lue et elle est à jour.',
  'chain.proven': 'Ce que le registre disait à ce bloc est prouvé.',
  'chain.unknown': 'La blockchain n’a pas pu être lue.',
  'batch.pass':
    'La liste avec laquelle le document a été délivré a été trouvée.',
  'batch.fail':
    'La liste avec laquelle le document a été délivré est endommagée, ou appartient à un autre registre ou émetteur.',
  'batch.unknown':
    'La liste avec laquelle le document a été délivré n’est pas disponible.',
  'record.pass': 'Le registre a une inscription du document.',
  'record.fail': 'Le registre n’a aucune inscription du document.',
  'record.unknown': 'L’inscription n’a pas pu être lue.',
  'supersession.pass': 'Le document n’a pas été remplacé.',
  'supersession.fail': 'Le document a été remplacé.',
  'supersession.unknown': 'On n’a pas pu lire s’il a été remplacé.',
  'revocation.pass': 'Le document n’a pas été révoqué.',
  'revocation.fail': 'Le document a été révoqué.',
  'revocation.unknown': 'On n’a pas pu lire s’il a été révoqué.',
  'suspension.pass': 'Le document n’est pas suspendu.',
  'suspension.fail': 'Le document est suspendu.',
  'suspension.unknown': 'On n’a pas pu lire s’il est suspendu.',
  'issuer.pass':
    'La clé avec laquelle il a été délivré n’est pas signalée volée.',
  'issuer.fail': 'La clé avec laquelle il a été délivré est signalée volée.',
  'issuer.unknown': 'L’émetteur n’a pas pu être lu.',
  'identity.pass': 'Le domaine de l’émetteur confirme l’émetteur.',
  'identity.denied': 'Le domaine que l’émetteur indique ne le confirme pas.',
  'identity.account_not_listed':
    'Le domaine de l’émetteur ne mentionne pas le compte qui l’a délivré.',
  'identity.unknown':
    'On ne sait pas si un domaine confirme l’émetteur. Cela ne change pas le résultat.',
  'identity.no_domain':
    'L’émetteur n’indique aucun domaine à interroger. Cela ne change pas le résultat.',
  'identity.unreachable':
    'Le domaine de l’émetteur n’a pas pu être interrogé. Cela ne change pas le résultat.',
  'identity.malformed':
    'Ce que le domaine publie sur l’émetteur est illisible. Cela ne change pas le résultat.',
  'identity.not_asked':
    'Le domaine de l’émetteur n’a pas été interrogé. Cela ne change pas le résultat.',
  'payload.pass':
    'Le contenu a été trouvé, et c’est à la lettre celui qui est inscrit.',
  'payload.fail': 'Le contenu a été effacé.',
  'payload.unknown': 'Le contenu n’est pas disponible.',
  'key.pass': 'La clé contenue dans le code ouvre le contenu.',
  'key.fail': 'La clé contenue dans le code n’ouvre pas le contenu.',
  'key.unknown': 'On ne sait pas si la clé ouvre le contenu.',
  'content.pass':
    'Le contenu appartient à ce registre, à cet émetteur et à cette date d’expiration.',
  'content.fail':
    'Le contenu enfreint le format, ne correspond pas aux empreintes de ses champs, ou appartient à un autre registre, émetteur ou date d’expiration.',
  'content.unknown': 'On ne sait pas ce que dit le contenu.',
  'expiry.pass': 'Le document n’a pas expiré.',
  'expiry.fail': 'Le document a expiré.',
  'expiry.unknown': 'On ne sait pas s’il a expiré.',
  'dating.pass': 'La date de délivrance n’est pas dans le futur.',
  'dating.fail': 'La date de délivrance est dans le futur.',
  'dating.unknown':
    'On ne sait pas si la date de délivrance est dans le futur.',
  'dating.notice': 'Ce document porte une date future : {date}.',
  'event.pass': 'La transaction qui l’a délivré a été trouvée.',
  'event.unknown':
    'La transaction qui l’a délivré n’a pas été trouvée. Cela ne change pas le résultat.',
  'event.contradicts':
    'La transaction qui l’a délivré ne concorde pas avec l’inscription. Cela ne change pas le résultat.',
  'event.pruned':
    'Les nœuds ne conservent plus la transaction qui l’a délivré. C’est normal pour un document ancien, et cela ne change pas le résultat.',
  'event.unreachable':
    'La transaction qui l’a délivré n’a pas pu être consultée. Cela ne change pas le résultat.',
  'event.unproven':
    'Un fichier de preuve ne peut pas prouver la transaction qui l’a délivré. Cela ne change pas le résultat.',
  'why.rpc_unreachable': 'Le nœud ne répond pas.',
  'why.rpc_error': 'Le nœud répond par une erreur.',
  'why.no_registry':
    'Il n’y a pas de registre à l’adresse à laquelle cette page fait confiance.',
  'why.wrong_chain': 'Le nœud appartient à une autre blockchain.',
  'why.head_stale':
    'Le nœud est en retard : son bloc le plus récent est trop ancien.',
  'why.missing': 'Aucun des endroits interrogés n’a le contenu.',
  'why.unreachable': 'Les endroits qui gardent le contenu ne répondent pas.',
  'why.wrong_bytes': 'Le contenu livré n’est pas celui qui est inscrit.',
  'why.other_code':
    'À l’adresse du registre se trouve un autre programme que prévu.',
  'why.other_registry':
    'La preuve porte sur un autre registre que celui auquel cette page fait confiance.',
  'why.block_untrusted':
    'On ne sait pas si le bloc de la preuve fait partie de la blockchain : aucun nœud ne l’a confirmé.',
  'why.proof_invalid': 'La preuve ne prouve rien.',
  'why.proof_unavailable': 'Le nœud ne donne pas de preuves.',
  'why.endpoints_disagree': 'Les nœuds se contredisent.',
  'why.state_unavailable': 'Le nœud n’a plus l’état de ce bloc.',
  'why.batch_unknown':
    'Le fichier de preuve ne contient pas la liste avec laquelle le document a été délivré.',
  'why.offline': 'Cet appareil est hors ligne.',
  'why.no_nodes': 'Aucun nœud de la blockchain à interroger n’est indiqué.',
  'reason.unspecified': 'non indiqué',
  'reason.keyCompromise': 'une clé a été compromise',
  'reason.cACompromise': 'l’émetteur a été compromis',
  'reason.affiliationChanged': 'l’appartenance a changé',
  'reason.superseded': 'remplacé par un autre',
  'reason.cessationOfOperation': 'n’est plus en usage',
  'reason.privilegeWithdrawn': 'le droit a été retiré',
  'reason.aACompromise': 'l’autorité a été compromise',
  'trust.heading': 'Sur quoi cela repose',
  'trust.qr':
    'Un code QR ne prouve rien par lui-même. Il peut mener à la page d’un faussaire qui ressemble à celle-ci et dit « valide ». Ouvrez une page dont vous connaissez l’adresse, et comparez le registre avec celui que l’émetteur rend public.',
  'trust.other':
    'Le lien ou le fichier de preuve nomme un autre registre, {registry}. Cette page ne lui fait pas confiance et ne l’a pas interrogé : le résultat ne concerne que le registre ci-dessous.',
  'trust.insecure':
    'Cette page est arrivée par une connexion non chiffrée. N’importe qui sur le réseau pourrait l’avoir modifiée.',
  'trust.registry': 'Registre',
  'trust.rpc': 'Nœuds de la blockchain',
  'trust.ipfs': 'Où le contenu est cherché',
  'trust.service': 'le service derrière cette page',
  'trust.depends':
    'Un nœud peut mentir. Pour ne dépendre de personne, nommez des nœuds à vous, ou de plusieurs personnes qui ne se connaissent pas.',
  'trust.quorum': 'Sur {count} nœuds, {quorum} doivent donner la même réponse.',
  'trust.details': 'Détails techniques',
  'trust.issuer': 'Émetteur inscrit',
  'trust.uri': 'Adresse de l’émetteur',
  'trust.account': 'Compte de l’émetteur',
  'trust.added': 'Compte inscrit au registre depuis le bloc',
  'trust.age': '{block} ({before} blocs avant de délivrer ceci)',
  'trust.setAside': 'Révocations annulées après un vol',
  'trust.setAside.true': 'au moins une',
  'trust.setAside.false': 'aucune',
  'trust.block': 'État du registre',
  'trust.hash': 'Hash du document',
  'trust.transaction': 'Transaction',
  'trust.none': 'pas encore nommé',
  'sources.heading': 'Choisir qui interroger',
  'sources.registry': 'Registre auquel vous faites confiance',
  'sources.registry.hint':
    'Tiré des publications de l’émetteur lui-même, jamais d’un code QR. Sous la forme eip155:1:0x…',
  'sources.rpc': 'Nœuds de la blockchain (JSON-RPC), un par ligne',
  'sources.ipfs': 'Passerelles IPFS, une par ligne',
  'sources.use': 'Utiliser ceux-ci',
  'sources.reset': 'Revenir à ceux de cette page',
  'sources.bad.registry':
    'Ce n’est pas un registre : il doit ressembler à eip155:1:0x suivi de 40 chiffres.',
  'sources.bad.rpc':
    'Chaque ligne doit être une adresse qui commence par https:// ou http://',
  'sources.bad.ipfs':
    'Chaque ligne doit être une adresse qui commence par https:// ou http://',
  'sources.identity': 'Demander au domaine de l’émetteur s’il le confirme.',
  'sources.identity.hint':
    'Le domaine apprend alors que quelqu’un regarde un document de cet émetteur, mais pas lequel.',
  'sources.kept':
    'Ce navigateur retient votre choix ; jamais les codes des documents.',
}
