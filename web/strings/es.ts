import type { Texts } from './en.ts'

export const es: Texts = {
  title: 'Comprobación de documentos',
  language: 'Idioma',
  'ask.heading': '¿Es auténtico este documento?',
  'ask.lead':
    'Indique el número del documento o una imagen de su código QR. Su navegador lo comprueba por sí mismo en la cadena de bloques; el nombre que figura en el documento no se envía a nadie.',
  'ask.label': 'Número o enlace del documento',
  'ask.check': 'Comprobar',
  'ask.camera': 'Escanear con la cámara',
  'ask.file': 'Elegir una imagen o un archivo',
  'ask.drop':
    'También puede soltar en esta página una imagen del código QR o un archivo de prueba.',
  'ask.another': 'Comprobar otro documento',
  'camera.hold':
    'Ponga el código QR delante de la cámara. La imagen no sale de este dispositivo.',
  'camera.stop': 'Apagar la cámara',
  'camera.alt': 'Imagen de la cámara',
  'error.empty': 'Indique primero el número del documento.',
  'error.malformed':
    'Esto no es el número de un documento. Cópielo otra vez, entero.',
  'error.mistyped':
    'Hay un error al escribir este número: sus dígitos de control no concuerdan. Cópielo otra vez.',
  'error.kind': 'Esta página no conoce los documentos de este tipo.',
  'error.noQr':
    'No se encontró ningún código QR en esta imagen. Haga una nítida, recta y de cerca.',
  'error.notOurs': 'Este código QR no contiene el número de un documento.',
  'error.file': 'Este archivo no es ni una imagen ni un archivo de prueba.',
  'error.bundle': 'Esto no es un archivo de prueba, o está dañado.',
  'error.camera':
    'No se puede usar la cámara. Permítala en el navegador o elija una imagen.',
  'error.internal':
    'Algo salió mal en esta página. Esto no dice nada sobre el documento.',
  'error.sources':
    'Indique primero el registro en el que confía y dónde preguntar.',
  checking: 'Comprobando …',
  'valid.title': 'Válido',
  'valid.text':
    'El emisor que se indica abajo expidió este documento. No ha sido retirado y no ha caducado.',
  'not_issued.title': 'Nunca expedido',
  'not_issued.text':
    'El registro en el que confía esta página no tiene constancia de este documento. Si se expidió hace un momento, inténtelo de nuevo en un minuto.',
  'superseded.title': 'Sustituido',
  'superseded.text':
    'El emisor sustituyó este documento el {date}. Pida el más reciente.',
  'revoked.title': 'Revocado',
  'revoked.text':
    'El emisor retiró definitivamente este documento el {date}. Motivo: {reason}.',
  'distrusted.title': 'No fiable',
  'distrusted.text':
    'Se expidió con una clave que consta como robada desde antes. Pida al emisor un documento nuevo.',
  'erased.title': 'Borrado',
  'erased.text':
    'Hay un documento inscrito con este número, pero su contenido fue borrado. Ya no se puede comprobar.',
  'erased.here':
    'El servicio que ofrece esta página dice que borró el contenido. Es solo su palabra.',
  'wrong_key.title': 'Número equivocado',
  'wrong_key.text':
    'Hay un documento inscrito, pero la clave de este número no lo abre. El número fue alterado o pertenece a otro documento.',
  'tampered.title': 'No auténtico',
  'tampered.text':
    'Hay algo inscrito con este número, pero no es un documento auténtico del emisor que nombra. No se fíe de él.',
  'expired.title': 'Caducado',
  'expired.text':
    'El emisor que se indica abajo expidió este documento, pero solo era válido hasta el {date}.',
  'unverifiable.title': 'No se pudo comprobar',
  'unverifiable.text':
    'Esto no dice nada sobre el documento: puede ser válido o no.',
  retry: 'Intentar de nuevo',
  'bundle.now': 'Comprobar el estado actual',
  'bundle.label': 'Hash del bloque {block}, de alguien en quien confíe',
  'bundle.check': 'Comprobar la prueba con él',
  'bundle.bad': 'Esto no es el hash de un bloque: debe ser 0x y 64 dígitos.',
  print: 'Imprimir',
  copy: 'Copiar el número',
  copied: 'Copiado',
  copyFailed: 'Aquí no es posible copiar',
  download: 'Guardar la prueba',
  downloadFailed: 'Los nodos no dan ninguna prueba',
  secret:
    'Quien tiene el número de un documento puede leer el documento. Compártalo con cuidado.',
  'issuer.heading': 'Expedido por',
  'issuer.recorded': 'Inscrito por',
  'issuer.same':
    '¿Es el emisor que espera? Compare la dirección con la que usted conoce.',
  'issuer.none': 'El emisor no ha registrado ninguna dirección.',
  'document.heading': 'El documento',
  'document.unread':
    'No se puede mostrar lo que dice: no se pudo obtener el contenido.',
  'document.subjectName': 'Nombre',
  'document.subjectId': 'Identificador',
  'document.category': 'Tipo de documento',
  'document.issuedAt': 'Fecha de expedición',
  'document.expiresAt': 'Válido hasta',
  'document.never': 'sin límite',
  'document.metadata': 'Otros datos',
  asOf: 'Según el bloque {block}, {time}',
  'asOf.bundle':
    'De un archivo de prueba: cierto en aquel momento. Lo que ha pasado desde entonces no figura en él.',
  'checks.heading': 'Qué se comprobó',
  'checks.pass': 'Superado',
  'checks.fail': 'No superado',
  'checks.unknown': 'No se pudo comprobar',
  'checks.running': 'Se están haciendo más comprobaciones …',
  'chain.pass': 'La cadena de bloques se leyó y está al día.',
  'chain.proven': 'Lo que decía el registro en ese bloque está demostrado.',
  'chain.unknown': 'No se pudo leer la cadena de bloques.',
  'record.pass': 'El registro tiene constancia del documento.',
  'record.fail': 'El registro no tiene constancia del documento.',
  'record.unknown': 'No se pudo leer la inscripción.',
  'supersession.pass': 'El documento no ha sido sustituido.',
  'supersession.fail': 'El documento ha sido sustituido.',
  'supersession.unknown': 'No se pudo leer si ha sido sustituido.',
  'revocation.pass': 'El documento no ha sido revocado.',
  'revocation.fail': 'El documento ha sido revocado.',
  'revocation.unknown': 'No se pudo leer si ha sido revocado.',
  'issuer.pass': 'La clave con la que se expidió no consta como robada.',
  'issuer.fail': 'La clave con la que se expidió consta como robada.',
  'issuer.unknown': 'No se pudo leer el emisor.',
  'payload.pass':
    'El contenido se encontró y es, letra por letra, el inscrito.',
  'payload.fail': 'El contenido fue borrado.',
  'payload.unknown': 'No se pudo obtener el contenido.',
  'key.pass': 'La clave del número abre el contenido.',
  'key.fail': 'La clave del número no abre el contenido.',
  'key.unknown': 'No se sabe si la clave abre el contenido.',
  'content.pass':
    'El contenido pertenece a este registro, a este emisor y a esta fecha de caducidad.',
  'content.fail':
    'El contenido incumple el formato, o pertenece a otro registro, emisor o fecha de caducidad.',
  'content.unknown': 'No se sabe qué dice el contenido.',
  'expiry.pass': 'El documento no ha caducado.',
  'expiry.fail': 'El documento ha caducado.',
  'expiry.unknown': 'No se sabe si ha caducado.',
  'event.pass': 'Se encontró la transacción que lo expidió.',
  'event.unknown':
    'No se encontró la transacción que lo expidió. Eso no cambia el resultado.',
  'event.contradicts':
    'La transacción que lo expidió no concuerda con la inscripción. Eso no cambia el resultado.',
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
  'why.offline': 'Este dispositivo no tiene conexión.',
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
    'El enlace nombra otro registro, {registry}. Esta página no confía en él y no le ha preguntado: el resultado se refiere solo al registro de abajo.',
  'trust.insecure':
    'Esta página llegó por una conexión sin cifrar. Cualquiera en la red podría haberla cambiado.',
  'trust.registry': 'Registro',
  'trust.rpc': 'Nodos de la cadena de bloques',
  'trust.ipfs': 'Dónde se busca el contenido',
  'trust.service': 'el servicio que ofrece esta página',
  'trust.depends':
    'Un nodo puede mentir. Para no depender de nadie, indique nodos propios o de varias personas que no se conozcan.',
  'trust.quorum': 'De {count} nodos, {quorum} deben dar la misma respuesta.',
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
  'sources.kept':
    'Este navegador recuerda los nodos y las pasarelas; nunca los números de los documentos.',
}
