import type { Texts } from './en.ts'

export const pt: Texts = {
  title: 'Verificação de documentos',
  language: 'Idioma',
  'ask.heading': 'Este documento é autêntico?',
  'ask.lead':
    'Indique o número do documento ou uma imagem do seu código QR. O seu navegador verifica-o por si mesmo na blockchain; o nome que está no documento não é enviado a ninguém.',
  'ask.label': 'Número ou ligação do documento',
  'ask.check': 'Verificar',
  'ask.camera': 'Ler com a câmara',
  'ask.file': 'Escolher uma imagem ou um ficheiro',
  'ask.drop':
    'Também pode largar nesta página uma imagem do código QR ou um ficheiro de prova.',
  'ask.another': 'Verificar outro documento',
  'camera.hold':
    'Ponha o código QR em frente da câmara. A imagem não sai deste dispositivo.',
  'camera.stop': 'Desligar a câmara',
  'camera.alt': 'Imagem da câmara',
  'error.empty': 'Indique primeiro o número do documento.',
  'error.malformed':
    'Isto não é o número de um documento. Copie-o de novo, por inteiro.',
  'error.mistyped':
    'Há um erro de escrita neste número: os seus dígitos de controlo não batem certo. Copie-o de novo.',
  'error.kind': 'Esta página não conhece documentos deste tipo.',
  'error.noQr':
    'Não foi encontrado nenhum código QR nesta imagem. Tire uma nítida, direita e de perto.',
  'error.notOurs': 'Este código QR não contém o número de um documento.',
  'error.file': 'Este ficheiro não é uma imagem nem um ficheiro de prova.',
  'error.bundle': 'Isto não é um ficheiro de prova, ou está danificado.',
  'error.camera':
    'Não é possível usar a câmara. Permita-a no navegador ou escolha uma imagem.',
  'error.internal':
    'Algo correu mal nesta página. Isto nada diz sobre o documento.',
  'error.sources': 'Indique primeiro o registo em que confia e onde perguntar.',
  checking: 'A verificar …',
  'valid.title': 'Válido',
  'valid.text':
    'O emissor indicado abaixo emitiu este documento. Não foi retirado e não caducou.',
  'not_issued.title': 'Nunca emitido',
  'not_issued.text':
    'O registo em que esta página confia não tem nenhuma inscrição deste documento. Se foi emitido há instantes, tente de novo daqui a um minuto.',
  'superseded.title': 'Substituído',
  'superseded.text':
    'O emissor substituiu este documento em {date}. Peça o mais recente.',
  'revoked.title': 'Revogado',
  'revoked.text':
    'O emissor retirou definitivamente este documento em {date}. Motivo: {reason}.',
  'distrusted.title': 'Não é de confiança',
  'distrusted.text':
    'Foi emitido com uma chave dada como roubada desde antes. Peça ao emissor um documento novo.',
  'erased.title': 'Apagado',
  'erased.text':
    'Há um documento inscrito com este número, mas o seu conteúdo foi apagado. Já não pode ser verificado.',
  'erased.here':
    'O serviço por trás desta página diz que apagou o conteúdo. É apenas a palavra dele.',
  'wrong_key.title': 'Número errado',
  'wrong_key.text':
    'Há um documento inscrito, mas a chave deste número não o abre. O número foi alterado ou pertence a outro documento.',
  'tampered.title': 'Não autêntico',
  'tampered.text':
    'Há algo inscrito com este número, mas não é um documento autêntico do emissor que indica. Não confie nele.',
  'expired.title': 'Caducado',
  'expired.text':
    'O emissor indicado abaixo emitiu este documento, mas só era válido até {date}.',
  'unverifiable.title': 'Não foi possível verificar',
  'unverifiable.text':
    'Isto nada diz sobre o documento: pode ser válido ou não.',
  retry: 'Tentar de novo',
  'bundle.now': 'Verificar o estado atual',
  'bundle.label': 'Hash do bloco {block}, de alguém em quem confia',
  'bundle.check': 'Verificar a prova com ele',
  'bundle.bad': 'Isto não é o hash de um bloco: deve ser 0x e 64 dígitos.',
  print: 'Imprimir',
  copy: 'Copiar o número',
  copied: 'Copiado',
  copyFailed: 'Aqui não é possível copiar',
  download: 'Guardar a prova',
  downloadFailed: 'Os nós não dão nenhuma prova',
  secret:
    'Quem tem o número de um documento pode ler o documento. Partilhe-o com cuidado.',
  'issuer.heading': 'Emitido por',
  'issuer.recorded': 'Inscrito por',
  'issuer.same':
    'É o emissor que espera? Compare o endereço com o que conhece.',
  'issuer.none': 'O emissor não registou nenhum endereço.',
  'document.heading': 'O documento',
  'document.unread':
    'Não é possível mostrar o que diz: não se conseguiu obter o conteúdo.',
  'document.subjectName': 'Nome',
  'document.subjectId': 'Identificador',
  'document.category': 'Tipo de documento',
  'document.issuedAt': 'Data de emissão',
  'document.expiresAt': 'Válido até',
  'document.never': 'sem limite',
  'document.metadata': 'Outros dados',
  asOf: 'À data do bloco {block}, {time}',
  'asOf.bundle':
    'De um ficheiro de prova: verdadeiro nesse momento. O que aconteceu desde então não consta dele.',
  'checks.heading': 'O que foi verificado',
  'checks.pass': 'Passou',
  'checks.fail': 'Falhou',
  'checks.unknown': 'Não foi possível verificar',
  'checks.running': 'Há mais verificações em curso …',
  'chain.pass': 'A blockchain foi lida e está atualizada.',
  'chain.proven': 'O que o registo dizia nesse bloco está provado.',
  'chain.unknown': 'Não foi possível ler a blockchain.',
  'record.pass': 'O registo tem uma inscrição do documento.',
  'record.fail': 'O registo não tem nenhuma inscrição do documento.',
  'record.unknown': 'Não foi possível ler a inscrição.',
  'supersession.pass': 'O documento não foi substituído.',
  'supersession.fail': 'O documento foi substituído.',
  'supersession.unknown': 'Não foi possível ler se foi substituído.',
  'revocation.pass': 'O documento não foi revogado.',
  'revocation.fail': 'O documento foi revogado.',
  'revocation.unknown': 'Não foi possível ler se foi revogado.',
  'issuer.pass': 'A chave com que foi emitido não está dada como roubada.',
  'issuer.fail': 'A chave com que foi emitido está dada como roubada.',
  'issuer.unknown': 'Não foi possível ler o emissor.',
  'payload.pass': 'O conteúdo foi encontrado e é, letra por letra, o inscrito.',
  'payload.fail': 'O conteúdo foi apagado.',
  'payload.unknown': 'Não foi possível obter o conteúdo.',
  'key.pass': 'A chave do número abre o conteúdo.',
  'key.fail': 'A chave do número não abre o conteúdo.',
  'key.unknown': 'Não se sabe se a chave abre o conteúdo.',
  'content.pass':
    'O conteúdo pertence a este registo, a este emissor e a esta data de validade.',
  'content.fail':
    'O conteúdo viola o formato, ou pertence a outro registo, emissor ou data de validade.',
  'content.unknown': 'Não se sabe o que diz o conteúdo.',
  'expiry.pass': 'O documento não caducou.',
  'expiry.fail': 'O documento caducou.',
  'expiry.unknown': 'Não se sabe se caducou.',
  'event.pass': 'A transação que o emitiu foi encontrada.',
  'event.unknown':
    'A transação que o emitiu não foi encontrada. Isso não muda o resultado.',
  'event.contradicts':
    'A transação que o emitiu não corresponde à inscrição. Isso não muda o resultado.',
  'event.unproven':
    'Um ficheiro de prova não pode provar a transação que o emitiu. Isso não muda o resultado.',
  'why.rpc_unreachable': 'O nó não responde.',
  'why.rpc_error': 'O nó responde com um erro.',
  'why.no_registry':
    'Não há nenhum registo no endereço em que esta página confia.',
  'why.wrong_chain': 'O nó pertence a outra blockchain.',
  'why.head_stale':
    'O nó está atrasado: o seu bloco mais recente é demasiado antigo.',
  'why.missing': 'Nenhum dos lugares consultados tem o conteúdo.',
  'why.unreachable': 'Os lugares que guardam o conteúdo não respondem.',
  'why.wrong_bytes': 'O conteúdo entregue não é o inscrito.',
  'why.other_code':
    'No endereço do registo há um programa diferente do esperado.',
  'why.other_registry':
    'A prova é sobre um registo diferente daquele em que esta página confia.',
  'why.block_untrusted':
    'Não se sabe se o bloco da prova é da blockchain: nenhum nó o confirmou.',
  'why.proof_invalid': 'A prova não prova nada.',
  'why.proof_unavailable': 'O nó não dá provas.',
  'why.endpoints_disagree': 'Os nós contradizem-se.',
  'why.state_unavailable': 'O nó já não tem o estado desse bloco.',
  'why.offline': 'Este dispositivo está sem ligação.',
  'reason.unspecified': 'não indicado',
  'reason.keyCompromise': 'uma chave foi comprometida',
  'reason.cACompromise': 'o emissor foi comprometido',
  'reason.affiliationChanged': 'a afiliação mudou',
  'reason.superseded': 'substituído por outro',
  'reason.cessationOfOperation': 'já não está em uso',
  'reason.privilegeWithdrawn': 'o direito foi retirado',
  'reason.aACompromise': 'a autoridade foi comprometida',
  'trust.heading': 'Em que se baseia',
  'trust.qr':
    'Um código QR não prova nada por si só. Pode levar à página de um falsificador que se parece com esta e diz «válido». Abra uma página cujo endereço conhece e compare o registo com o que o emissor torna público.',
  'trust.other':
    'A ligação indica outro registo, {registry}. Esta página não confia nele e não o consultou: o resultado é apenas sobre o registo abaixo.',
  'trust.insecure':
    'Esta página chegou por uma ligação não cifrada. Qualquer pessoa na rede a poderia ter alterado.',
  'trust.registry': 'Registo',
  'trust.rpc': 'Nós da blockchain',
  'trust.ipfs': 'Onde o conteúdo é procurado',
  'trust.service': 'o serviço por trás desta página',
  'trust.depends':
    'Um nó pode mentir. Para não depender de ninguém, indique nós seus, ou de várias pessoas que não se conheçam.',
  'trust.quorum': 'De {count} nós, {quorum} têm de dar a mesma resposta.',
  'trust.hash': 'Hash do documento',
  'trust.transaction': 'Transação',
  'trust.none': 'ainda não indicado',
  'sources.heading': 'Escolher a quem perguntar',
  'sources.registry': 'Registo em que confia',
  'sources.registry.hint':
    'Das publicações do próprio emissor, nunca de um código QR. Na forma eip155:1:0x…',
  'sources.rpc': 'Nós da blockchain (JSON-RPC), um por linha',
  'sources.ipfs': 'Gateways IPFS, um por linha',
  'sources.use': 'Usar estes',
  'sources.reset': 'Voltar aos desta página',
  'sources.bad.registry':
    'Não é um registo: deve ter a forma eip155:1:0x e 40 dígitos.',
  'sources.bad.rpc':
    'Cada linha deve ser um endereço que comece por https:// ou http://',
  'sources.bad.ipfs':
    'Cada linha deve ser um endereço que comece por https:// ou http://',
  'sources.kept':
    'Este navegador lembra os nós e os gateways; nunca os números dos documentos.',
}
