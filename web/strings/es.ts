import type { Texts } from './en.ts'

export const es: Texts = {
  title: 'Comprobación de documentos',
  language: 'Idioma',
  'own.label': 'Dirección de esta página:',
  'own.hint':
    '¿Muestra lo mismo la barra de direcciones de su navegador? ¿Y conoce usted esta dirección? La página de un falsificador puede ser idéntica a esta.',
  'own.file': 'Un archivo de este dispositivo',
  'own.file.hint':
    'Asegúrese de que viene de alguien de confianza: la página de un falsificador puede ser idéntica a esta.',
  'ask.heading': '¿Es auténtico este documento?',
  'ask.lead':
    'Introduzca el código del documento o muestre su código QR. Su navegador lo comprueba por sí mismo en la cadena de bloques; el nombre que figura en el documento no se envía a nadie.',
  'ask.label': 'Código o enlace del documento',
  'ask.check': 'Comprobar',
  'ask.camera': 'Escanear con la cámara',
  'ask.file': 'Elegir una imagen o un archivo',
  'ask.drop':
    'También puede soltar en esta página una imagen del código QR, un archivo de prueba o un extracto.',
  'ask.another': 'Comprobar otro documento',
  'camera.hold':
    'Ponga el código QR delante de la cámara. La imagen no sale de este dispositivo.',
  'camera.stop': 'Apagar la cámara',
  'camera.alt': 'Imagen de la cámara',
  'error.empty': 'Introduzca primero el código del documento.',
  'error.malformed':
    'Esto no es el código de un documento. Cópielo otra vez, entero.',
  'error.mistyped':
    'Hay un error al escribir este código: sus dígitos de control no concuerdan. Cópielo otra vez.',
  'error.kind': 'Esta página no conoce los documentos de este tipo.',
  'error.noQr':
    'No se encontró ningún código QR en esta imagen. Haga una nítida, recta y de cerca.',
  'error.notOurs': 'Este código QR no contiene el código de un documento.',
  'error.file':
    'Este archivo no es ni una imagen, ni un archivo de prueba, ni un extracto.',
  'error.bundle': 'Esto no es un archivo de prueba, o está dañado.',
  'error.excerpt': 'Esto no es un extracto de un documento, o está dañado.',
  'error.camera':
    'No se puede usar la cámara. Permítala en el navegador o elija una imagen.',
  'error.internal':
    'Algo salió mal en esta página. Esto no dice nada sobre el documento.',
  'error.sources':
    'Indique primero el registro en el que confía y dónde preguntar.',
  checking: 'Comprobando …',
  'valid.title': 'Válido',
  'valid.text': 'No ha sido retirado y no ha caducado.',
  'valid.past': 'Era válido el {date}; sin comprobar desde entonces',
  'valid.past.text':
    'Puede haber sido retirado desde entonces. Compruébelo de nuevo antes de fiarse de él.',
  'not_issued.title': 'Nunca expedido',
  'not_issued.text':
    'El registro en el que confía esta página no tiene constancia de este documento. Si se expidió hace un momento, inténtelo de nuevo en un minuto.',
  'not_issued.past':
    'Sin expedir hasta el {date}; sin comprobar desde entonces',
  'not_issued.past.text':
    'El registro no tenía entonces constancia de este documento. Puede haberse expedido desde entonces.',
  'superseded.title': 'Sustituido',
  'superseded.text': 'El emisor lo sustituyó el {date}. Pida el más reciente.',
  'revoked.title': 'Revocado',
  'revoked.text':
    'El emisor lo retiró definitivamente el {date}. Motivo: {reason}.',
  'suspended.title': 'Suspendido',
  'suspended.text':
    'El emisor lo suspendió el {date}. No se fíe de él: el emisor puede restablecerlo o retirarlo definitivamente.',
  'suspended.past': 'Estaba suspendido el {date}; sin comprobar desde entonces',
  'suspended.past.text':
    'El emisor puede haberlo restablecido o retirado desde entonces. Compruébelo de nuevo.',
  'distrusted.title': 'No fiable',
  'distrusted.text':
    'Se expidió con una clave que consta como robada desde antes. Pida al emisor un documento nuevo.',
  'setAside.notice':
    'Se anuló una revocación de este documento porque la clave con la que se hizo consta como robada. En caso de duda, pregunte al emisor.',
  'erased.title': 'Borrado',
  'erased.text':
    'Hay un documento inscrito con este código, pero su contenido fue borrado. Ya no se puede comprobar.',
  'erased.here':
    'El servicio que ofrece esta página dice que borró el contenido. Es solo su palabra.',
  'wrong_key.title': 'Este código no abre el documento',
  'wrong_key.text':
    'Hay una inscripción, pero la clave de este código no le corresponde. El código fue alterado, o se mezclaron partes de dos códigos. Pida el código correcto.',
  'tampered.title': 'No auténtico',
  'tampered.text':
    'Hay algo inscrito con este código, pero no es un documento auténtico del emisor que nombra. No se fíe de él.',
  'expired.title': 'Caducado',
  'expired.text': 'Solo era válido hasta el {date}.',
  'unverifiable.title': 'No se pudo comprobar',
  'unverifiable.text':
    'Esto no dice nada sobre el documento: puede ser válido o no.',
  'unverifiable.recorded':
    'El documento no ha sido retirado. Pero su contenido no está disponible: no se puede comprobar lo que dice.',
  retry: 'Intentar de nuevo',
  'bundle.label':
    'Hash del bloque {block} del {date}, de alguien en quien confíe',
  'bundle.check': 'Comprobar la prueba con él',
  'bundle.bad': 'Esto no es el hash de un bloque: debe ser 0x y 64 dígitos.',
  print: 'Imprimir',
  copy: 'Copiar el código',
  copied: 'Copiado',
  copyFailed: 'Aquí no es posible copiar',
  download: 'Guardar la prueba',
  downloadFailed: 'Los nodos no dan ninguna prueba',
  secret:
    'Quien tiene el código de un documento puede leer el documento. Compártalo con cuidado.',
  'network.name': 'Red de pruebas',
  'network.test': 'Red de pruebas: no es un documento real',
  'parties.issued': 'Expedido a {name}.',
  'parties.recorded': 'El registro tiene una inscripción del {date}.',
  'issuer.same':
    'Compárela con la dirección que usted conoce: cualquiera puede elegir un nombre.',
  'issuer.none':
    'El emisor no ha registrado ninguna dirección: no hay a quién preguntar.',
  'issuer.calls': 'El emisor se hace llamar {issuer}.',
  'issuer.unconfirmed':
    'El emisor se hace llamar {issuer}, sin que ningún dominio lo confirme.',
  'domain.confirmed': 'El emisor está confirmado por el dominio',
  'domain.linked':
    'Este dominio confirma al emisor, que se hace llamar {issuer}. ¿Es el dominio que usted espera?',
  'domain.asking': 'Se pregunta a este dominio si confirma al emisor …',
  'domain.denied':
    'Atención: el emisor indica este dominio, pero el dominio no lo confirma. Puede que alguien esté usando su nombre. Pregunte allí antes de fiarse de este documento.',
  'domain.not_listed':
    'Atención: este dominio conoce al emisor, pero no la cuenta que expidió este documento. Pregunte allí antes de fiarse de él.',
  'domain.unreachable':
    'Esta es la dirección que indica. No se le pudo preguntar.',
  'domain.malformed':
    'Esta es la dirección que indica. Lo que allí se publica sobre él no se puede leer.',
  'domain.not_asked':
    'Esta es la dirección que indica. Esta página no le ha preguntado.',
  'domain.no_domain':
    'Esta es la dirección que indica. No es un dominio al que se pueda preguntar.',
  'document.heading': 'El documento',
  'document.unread':
    'No se puede mostrar lo que dice: el contenido no está disponible.',
  'document.subjectName': 'Nombre',
  'document.subjectId': 'Identificador',
  'document.category': 'Tipo de documento',
  'document.issuedAt': 'Fecha de expedición',
  'document.expiresAt': 'Válido hasta',
  'document.never': 'sin límite',
  'document.supersedes': 'Sustituye al documento con el hash',
  'document.metadata': 'Otros datos',
  'excerpt.mark': 'Extracto de un documento',
  'excerpt.heading': 'Extracto del documento',
  'excerpt.only': 'El titular ha elegido mostrar solo estos campos.',
  'excerpt.nothing': 'El titular ha elegido no mostrar ningún campo.',
  'excerpt.save': 'Guardar el extracto',
  'excerpt.passOn':
    'Quien tiene este extracto puede volver a comprobarlo y pasarlo a otros.',
  'share.heading': 'Compartir solo algunos campos',
  'share.lead':
    'Marque lo que el destinatario puede ver. Obtendrá un extracto como archivo, como enlace y, si cabe, como código QR.',
  'share.fields': 'Campos que se muestran',
  'share.learns':
    'El destinatario conoce estos campos, quién expidió el documento, cuándo y hasta cuándo es válido, y puede comprobar en cualquier momento si aún lo es. De los demás campos no sabe nada. Así muestra menos, pero eso no le hace anónimo: cualquiera puede ver que dos extractos son de un mismo documento, y quien recibe uno puede pasarlo a otros.',
  'share.none': 'Marque al menos un campo.',
  'share.make': 'Crear el extracto',
  'share.ready': 'El extracto está listo',
  'share.file': 'Guardar como archivo',
  'share.link': 'Copiar el enlace',
  'share.qr': 'Código QR del extracto',
  'share.noQr': 'Es demasiado largo para un código QR.',
  'share.noLink':
    'Esta página es un archivo y no tiene dirección: por eso no hay enlace.',
  asOf: 'Bloque {block}, {time}',
  'asOf.bundle': 'De un archivo de prueba: estado a {time}.',
  'checked.now': 'Comprobado ahora mismo',
  'checked.ago': 'Comprobado {ago}',
  'waiting.chain':
    'La cadena de bloques se hace esperar: aún no hay respuesta de {hosts}.',
  'waiting.content':
    'El registro tiene constancia del documento. Su contenido se hace esperar: aún no hay respuesta de {hosts}.',
  'statement.heading': 'En el archivo de prueba',
  'statement.text':
    'El archivo que abrió muestra el estado a {date}: {status}.',
  'statement.later':
    'Lo que ha pasado desde entonces no figura en él. Vale el resultado de arriba.',
  'statement.unusable': 'El archivo que abrió no prueba nada aquí.',
  'printed.page': 'Comprobado en la página',
  'printed.time': 'Hora de la comprobación',
  'printed.file': 'un archivo en un dispositivo',
  'checks.heading': 'Qué se comprobó',
  'checks.pass': 'Superado',
  'checks.fail': 'No superado',
  'checks.unknown': 'No se pudo comprobar',
  'checks.passed': '{passed} de {count} comprobaciones superadas',
  'checks.running': 'Comprobaciones superadas hasta ahora: {passed}',
  'chain.pass': 'La cadena de bloques se leyó y está al día.',
  'chain.proven': 'Lo que decía el registro en ese bloque está demostrado.',
  'chain.unknown': 'No se pudo leer la cadena de bloques.',
  'batch.pass': 'Se encontró la lista con la que se expidió el documento.',
  'batch.fail':
    'La lista con la que se expidió el documento está dañada, o pertenece a otro registro o emisor.',
  'batch.unknown':
    'La lista con la que se expidió el documento no está disponible.',
  'record.pass': 'El registro tiene constancia del documento.',
  'record.fail': 'El registro no tiene constancia del documento.',
  'record.unknown': 'No se pudo leer la inscripción.',
  'supersession.pass': 'El documento no ha sido sustituido.',
  'supersession.fail': 'El documento ha sido sustituido.',
  'supersession.unknown': 'No se pudo leer si ha sido sustituido.',
  'revocation.pass': 'El documento no ha sido revocado.',
  'revocation.fail': 'El documento ha sido revocado.',
  'revocation.unknown': 'No se pudo leer si ha sido revocado.',
  'suspension.pass': 'El documento no está suspendido.',
  'suspension.fail': 'El documento está suspendido.',
  'suspension.unknown': 'No se pudo leer si está suspendido.',
  'issuer.pass': 'La clave con la que se expidió no consta como robada.',
  'issuer.fail': 'La clave con la que se expidió consta como robada.',
  'issuer.unknown': 'No se pudo leer el emisor.',
  'identity.pass': 'El dominio del emisor confirma al emisor.',
  'identity.denied': 'El dominio que indica el emisor no lo confirma.',
  'identity.account_not_listed':
    'El dominio del emisor no menciona la cuenta que lo expidió.',
  'identity.unknown':
    'No se sabe si un dominio confirma al emisor. Eso no cambia el resultado.',
  'identity.no_domain':
    'El emisor no indica ningún dominio al que preguntar. Eso no cambia el resultado.',
  'identity.unreachable':
    'No se pudo preguntar al dominio del emisor. Eso no cambia el resultado.',
  'identity.malformed':
    'Lo que el dominio publica sobre el emisor no se puede leer. Eso no cambia el resultado.',
  'identity.not_asked':
    'No se ha preguntado al dominio del emisor. Eso no cambia el resultado.',
  'payload.pass':
    'El contenido se encontró y es, letra por letra, el inscrito.',
  'payload.fail': 'El contenido fue borrado.',
  'payload.unknown': 'El contenido no está disponible.',
  'key.pass': 'La clave del código abre el contenido.',
  'key.fail': 'La clave del código no abre el contenido.',
  'key.unknown': 'No se sabe si la clave abre el contenido.',
  'content.pass':
    'El contenido pertenece a este registro, a este emisor y a esta fecha de caducidad.',
  'content.fail':
    'El contenido incumple el formato, no concuerda con las huellas de sus campos, o pertenece a otro registro, emisor o fecha de caducidad.',
  'content.unknown': 'No se sabe qué dice el contenido.',
  'expiry.pass': 'El documento no ha caducado.',
  'expiry.fail': 'El documento ha caducado.',
  'expiry.unknown': 'No se sabe si ha caducado.',
  'dating.pass': 'La fecha de expedición no está en el futuro.',
  'dating.fail': 'La fecha de expedición está en el futuro.',
  'dating.unknown': 'No se sabe si la fecha de expedición está en el futuro.',
  'dating.notice': 'Este documento lleva una fecha futura: {date}.',
  'event.pass': 'Se encontró la transacción que lo expidió.',
  'event.unknown':
    'No se encontró la transacción que lo expidió. Eso no cambia el resultado.',
  'event.contradicts':
    'La transacción que lo expidió no concuerda con la inscripción. Eso no cambia el resultado.',
  'event.pruned':
    'Los nodos ya no guardan la transacción que lo expidió. Es normal en un documento antiguo y no cambia el resultado.',
  'event.unreachable':
    'No se pudo consultar la transacción que lo expidió. Eso no cambia el resultado.',
  'event.unproven':
    'Un archivo de prueba no puede demostrar la transacción que lo expidió. Eso no cambia el resultado.',
  'why.rpc_unreachable': 'El nodo no responde.',
  'why.rpc_error': 'El nodo responde con un error.',
  'why.no_registry':
    'No hay ningún registro en la dirección en la que confía esta página.',
  'why.wrong_chain': 'El nodo pertenece a otra cadena de bloques.',
  'why.head_stale':
    'El nodo va con retraso: su bloque más reciente es demasiado antiguo.',
  'why.missing': 'Ninguno de los lugares consultados tiene el contenido.',
  'why.unreachable': 'Los lugares que guardan el contenido no responden.',
  'why.wrong_bytes': 'El contenido entregado no es el inscrito.',
  'why.other_code':
    'En la dirección del registro hay un programa distinto del esperado.',
  'why.other_registry':
    'La prueba trata de un registro distinto de aquel en el que confía esta página.',
  'why.block_untrusted':
    'No se sabe si el bloque de la prueba es de la cadena de bloques: ningún nodo lo ha confirmado.',
  'why.proof_invalid': 'La prueba no demuestra nada.',
  'why.proof_unavailable': 'El nodo no da pruebas.',
  'why.endpoints_disagree': 'Los nodos se contradicen.',
  'why.state_unavailable': 'El nodo ya no tiene el estado de ese bloque.',
  'why.batch_unknown':
    'El archivo de prueba no contiene la lista con la que se expidió el documento.',
  'why.offline': 'Este dispositivo no tiene conexión.',
  'why.no_nodes':
    'No se ha indicado ningún nodo de la cadena de bloques al que preguntar.',
  'reason.unspecified': 'no indicado',
  'reason.keyCompromise': 'una clave quedó comprometida',
  'reason.cACompromise': 'el emisor quedó comprometido',
  'reason.affiliationChanged': 'cambió la afiliación',
  'reason.superseded': 'sustituido por otro',
  'reason.cessationOfOperation': 'ya no está en uso',
  'reason.privilegeWithdrawn': 'se retiró el derecho',
  'reason.aACompromise': 'la autoridad quedó comprometida',
  'trust.heading': 'En qué se basa',
  'trust.qr':
    'Un código QR no prueba nada por sí solo. Puede llevar a la página de un falsificador que se parece a esta y dice «válido». Abra una página cuya dirección conozca y compare el registro con el que el emisor hace público.',
  'trust.other':
    'El enlace o el archivo de prueba nombra otro registro, {registry}. Esta página no confía en él y no le ha preguntado: el resultado se refiere solo al registro de abajo.',
  'trust.insecure':
    'Esta página llegó por una conexión sin cifrar. Cualquiera en la red podría haberla cambiado.',
  'trust.registry': 'Registro',
  'trust.rpc': 'Nodos de la cadena de bloques',
  'trust.ipfs': 'Dónde se busca el contenido',
  'trust.service': 'el servicio que ofrece esta página',
  'trust.depends':
    'Un nodo puede mentir. Para no depender de nadie, indique nodos propios o de varias personas que no se conozcan.',
  'trust.quorum': 'De {count} nodos, {quorum} deben dar la misma respuesta.',
  'trust.details': 'Detalles técnicos',
  'trust.issuer': 'Emisor inscrito',
  'trust.uri': 'Dirección del emisor',
  'trust.account': 'Cuenta del emisor',
  'trust.added': 'Cuenta en el registro desde el bloque',
  'trust.age': '{block} ({before} bloques antes de expedir esto)',
  'trust.setAside': 'Revocaciones anuladas tras un robo',
  'trust.setAside.true': 'al menos una',
  'trust.setAside.false': 'ninguna',
  'trust.block': 'Estado del registro',
  'trust.hash': 'Hash del documento',
  'trust.transaction': 'Transacción',
  'trust.none': 'aún sin indicar',
  'sources.heading': 'Elegir a quién preguntar',
  'sources.registry': 'Registro en el que confía',
  'sources.registry.hint':
    'De las publicaciones del propio emisor, nunca de un código QR. Con la forma eip155:1:0x…',
  'sources.rpc': 'Nodos de la cadena de bloques (JSON-RPC), uno por línea',
  'sources.ipfs': 'Pasarelas IPFS, una por línea',
  'sources.use': 'Usar estos',
  'sources.reset': 'Volver a los de esta página',
  'sources.bad.registry':
    'No es un registro: debe tener la forma eip155:1:0x y 40 dígitos.',
  'sources.bad.rpc':
    'Cada línea debe ser una dirección que empiece por https:// o http://',
  'sources.bad.ipfs':
    'Cada línea debe ser una dirección que empiece por https:// o http://',
  'sources.identity': 'Preguntar al dominio del emisor si lo confirma.',
  'sources.identity.hint':
    'El dominio sabe entonces que alguien mira un documento de este emisor, pero no cuál.',
  'sources.kept':
    'Este navegador recuerda su elección; nunca los códigos de los documentos.',
}
