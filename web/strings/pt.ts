import type { Texts } from './en.ts'

export const pt: Texts = {
  title: 'Verificação de documentos',
  language: 'Idioma',
  'own.label': 'Endereço desta página:',
  'own.hint':
    'A barra de endereço do seu navegador mostra o mesmo? E conhece este endereço? A página de um falsificador pode ser igual a esta.',
  'own.file': 'Um ficheiro neste dispositivo',
  'own.file.hint':
    'Certifique-se de que vem de alguém de confiança: a página de um falsificador pode ser igual a esta.',
  'ask.heading': 'Este documento é autêntico?',
  'ask.lead':
    'Introduza o código do documento ou mostre o seu código QR. O seu navegador verifica-o por si mesmo na blockchain; o nome que está no documento não é enviado a ninguém.',
  'ask.label': 'Código ou ligação do documento',
  'ask.check': 'Verificar',
  'ask.camera': 'Ler com a câmara',
  'ask.file': 'Escolher uma imagem ou um ficheiro',
  'ask.drop':
    'Também pode largar nesta página uma imagem do código QR, um ficheiro de prova ou um excerto.',
  'ask.another': 'Verificar outro documento',
  'camera.hold':
    'Ponha o código QR em frente da câmara. A imagem não sai deste dispositivo.',
  'camera.stop': 'Desligar a câmara',
  'camera.alt': 'Imagem da câmara',
  'error.empty': 'Introduza primeiro o código do documento.',
  'error.malformed':
    'Isto não é o código de um documento. Copie-o de novo, por inteiro.',
  'error.mistyped':
    'Há um erro de escrita neste código: os seus dígitos de controlo não batem certo. Copie-o de novo.',
  'error.kind': 'Esta página não conhece documentos deste tipo.',
  'error.noQr':
    'Não foi encontrado nenhum código QR nesta imagem. Tire uma nítida, direita e de perto.',
  'error.notOurs': 'Este código QR não contém o código de um documento.',
  'error.file':
    'Este ficheiro não é uma imagem, nem um ficheiro de prova, nem um excerto.',
  'error.bundle': 'Isto não é um ficheiro de prova, ou está danificado.',
  'error.excerpt': 'Isto não é um excerto de um documento, ou está danificado.',
  'error.camera':
    'Não é possível usar a câmara. Permita-a no navegador ou escolha uma imagem.',
  'error.internal':
    'Algo correu mal nesta página. Isto nada diz sobre o documento.',
  'error.sources': 'Indique primeiro o registo em que confia e onde perguntar.',
  checking: 'A verificar …',
  'valid.title': 'Válido',
  'valid.text': 'Não foi retirado e não caducou.',
  'valid.past': 'Era válido em {date}, não verificado desde então',
  'valid.past.text':
    'Pode ter sido retirado desde então. Verifique-o de novo antes de confiar nele.',
  'not_issued.title': 'Nunca emitido',
  'not_issued.text':
    'O registo em que esta página confia não tem nenhuma inscrição deste documento. Se foi emitido há instantes, tente de novo daqui a um minuto.',
  'not_issued.past': 'Não emitido até {date}, não verificado desde então',
  'not_issued.past.text':
    'O registo não tinha então nenhuma inscrição deste documento. Pode ter sido emitido desde então.',
  'superseded.title': 'Substituído',
  'superseded.text': 'O emissor substituiu-o em {date}. Peça o mais recente.',
  'revoked.title': 'Revogado',
  'revoked.text':
    'O emissor retirou-o definitivamente em {date}. Motivo: {reason}.',
  'suspended.title': 'Suspenso',
  'suspended.text':
    'O emissor suspendeu-o em {date}. Não confie nele: o emissor pode restabelecê-lo ou retirá-lo definitivamente.',
  'suspended.past': 'Estava suspenso em {date}, não verificado desde então',
  'suspended.past.text':
    'O emissor pode tê-lo restabelecido ou retirado desde então. Verifique-o de novo.',
  'distrusted.title': 'Não é de confiança',
  'distrusted.text':
    'Foi emitido com uma chave dada como roubada desde antes. Peça ao emissor um documento novo.',
  'setAside.notice':
    'Uma revogação deste documento foi anulada, porque a chave com que foi feita está dada como roubada. Em caso de dúvida, pergunte ao emissor.',
  'erased.title': 'Apagado',
  'erased.text':
    'Há um documento inscrito com este código, mas o seu conteúdo foi apagado. Já não pode ser verificado.',
  'erased.here':
    'O serviço por trás desta página diz que apagou o conteúdo. É apenas a palavra dele.',
  'wrong_key.title': 'Este código não abre o documento',
  'wrong_key.text':
    'Há uma inscrição, mas a chave deste código não lhe corresponde. O código foi alterado, ou misturaram-se partes de dois códigos. Peça o código certo.',
  'tampered.title': 'Não autêntico',
  'tampered.text':
    'Há algo inscrito com este código, mas não é um documento autêntico do emissor que indica. Não confie nele.',
  'expired.title': 'Caducado',
  'expired.text': 'Só era válido até {date}.',
  'unverifiable.title': 'Não foi possível verificar',
  'unverifiable.text':
    'Isto nada diz sobre o documento: pode ser válido ou não.',
  'unverifiable.recorded':
    'O documento não foi retirado. Mas o seu conteúdo não está disponível: não é possível verificar o que diz.',
  retry: 'Tentar de novo',
  'bundle.label': 'Hash do bloco {block} de {date}, de alguém em quem confia',
  'bundle.check': 'Verificar a prova com ele',
  'bundle.bad': 'Isto não é o hash de um bloco: deve ser 0x e 64 dígitos.',
  print: 'Imprimir',
  copy: 'Copiar o código',
  copied: 'Copiado',
  copyFailed: 'Aqui não é possível copiar',
  download: 'Guardar a prova',
  downloadFailed: 'Os nós não dão nenhuma prova',
  secret:
    'Quem tem o código de um documento pode ler o documento. Partilhe-o com cuidado.',
  'network.name': 'Rede de teste',
  'network.test': 'Rede de teste: não é um documento verdadeiro',
  'parties.issued': 'Emitido a {name}.',
  'parties.recorded': 'O registo tem uma inscrição de {date}.',
  'issuer.same':
    'Compare-o com o endereço que conhece: qualquer pessoa pode escolher um nome.',
  'issuer.none':
    'O emissor não registou nenhum endereço: não há a quem perguntar.',
  'issuer.calls': 'O emissor apresenta-se como {issuer}.',
  'issuer.unconfirmed':
    'O emissor apresenta-se como {issuer}, sem confirmação de nenhum domínio.',
  'domain.confirmed': 'O emissor é confirmado pelo domínio',
  'domain.linked':
    'Este domínio confirma o emissor, que se apresenta como {issuer}. É o domínio que espera?',
  'domain.asking': 'A perguntar a este domínio se confirma o emissor …',
  'domain.denied':
    'Atenção: o emissor indica este domínio, mas o domínio não o confirma. Alguém pode estar a usar o seu nome. Pergunte lá antes de confiar neste documento.',
  'domain.not_listed':
    'Atenção: este domínio conhece o emissor, mas não a conta que emitiu este documento. Pergunte lá antes de confiar nele.',
  'domain.unreachable':
    'Este é o endereço que indica. Não foi possível consultá-lo.',
  'domain.malformed':
    'Este é o endereço que indica. O que lá está publicado sobre ele não se consegue ler.',
  'domain.not_asked':
    'Este é o endereço que indica. Esta página não o consultou.',
  'domain.no_domain':
    'Este é o endereço que indica. Não é um domínio que se possa consultar.',
  'document.heading': 'O documento',
  'document.unread':
    'Não é possível mostrar o que diz: o conteúdo não está disponível.',
  'document.subjectName': 'Nome',
  'document.subjectId': 'Identificador',
  'document.category': 'Tipo de documento',
  'document.issuedAt': 'Data de emissão',
  'document.expiresAt': 'Válido até',
  'document.never': 'sem limite',
  'document.supersedes': 'Substitui o documento com o hash',
  'document.metadata': 'Outros dados',
  'excerpt.mark': 'Excerto de um documento',
  'excerpt.heading': 'Excerto do documento',
  'excerpt.only': 'O titular escolheu mostrar apenas estes campos.',
  'excerpt.nothing': 'O titular escolheu não mostrar nenhum campo.',
  'excerpt.save': 'Guardar o excerto',
  'excerpt.passOn':
    'Quem tem este excerto pode voltar a verificá-lo e passá-lo a outros.',
  'share.heading': 'Partilhar apenas alguns campos',
  'share.lead':
    'Assinale o que o destinatário pode ver. Obtém um excerto como ficheiro, como ligação e, se couber, como código QR.',
  'share.fields': 'Campos a mostrar',
  'share.learns':
    'O destinatário fica a saber estes campos, quem emitiu o documento, quando, e até quando é válido, e pode verificar a qualquer momento se ainda o é. Dos outros campos nada fica a saber. Assim mostra menos, mas isso não o torna anónimo: qualquer pessoa pode ver que dois excertos são de um mesmo documento, e quem recebe um pode passá-lo a outros.',
  'share.none': 'Assinale pelo menos um campo.',
  'share.make': 'Criar o excerto',
  'share.ready': 'O excerto está pronto',
  'share.file': 'Guardar como ficheiro',
  'share.link': 'Copiar a ligação',
  'share.qr': 'Código QR do excerto',
  'share.noQr': 'É demasiado longo para um código QR.',
  'share.noLink':
    'Esta página é um ficheiro e não tem endereço: por isso não há ligação.',
  asOf: 'Bloco {block}, {time}',
  'asOf.bundle': 'De um ficheiro de prova: estado em {time}.',
  'checked.now': 'Verificado agora mesmo',
  'checked.ago': 'Verificado {ago}',
  'waiting.chain':
    'A blockchain está a demorar: ainda não há resposta de {hosts}.',
  'waiting.content':
    'O registo tem uma inscrição. O conteúdo do documento está a demorar: ainda não há resposta de {hosts}.',
  'statement.heading': 'No ficheiro de prova',
  'statement.text': 'O ficheiro que abriu mostra o estado em {date}: {status}.',
  'statement.later':
    'O que aconteceu desde então não consta dele. Vale o resultado acima.',
  'statement.unusable': 'O ficheiro que abriu não prova nada aqui.',
  'printed.page': 'Verificado na página',
  'printed.time': 'Hora da verificação',
  'printed.file': 'um ficheiro num dispositivo',
  'checks.heading': 'O que foi verificado',
  'checks.pass': 'Passou',
  'checks.fail': 'Falhou',
  'checks.unknown': 'Não foi possível verificar',
  'checks.passed': 'Passaram {passed} de {count} verificações',
  'checks.running': 'Verificações que já passaram: {passed}',
  'chain.pass': 'A blockchain foi lida e está atualizada.',
  'chain.proven': 'O que o registo dizia nesse bloco está provado.',
  'chain.unknown': 'Não foi possível ler a blockchain.',
  'batch.pass': 'A lista com que o documento foi emitido foi encontrada.',
  'batch.fail':
    'A lista com que o documento foi emitido está danificada, ou pertence a outro registo ou emissor.',
  'batch.unknown':
    'A lista com que o documento foi emitido não está disponível.',
  'record.pass': 'O registo tem uma inscrição do documento.',
  'record.fail': 'O registo não tem nenhuma inscrição do documento.',
  'record.unknown': 'Não foi possível ler a inscrição.',
  'supersession.pass': 'O documento não foi substituído.',
  'supersession.fail': 'O documento foi substituído.',
  'supersession.unknown': 'Não foi possível ler se foi substituído.',
  'revocation.pass': 'O documento não foi revogado.',
  'revocation.fail': 'O documento foi revogado.',
  'revocation.unknown': 'Não foi possível ler se foi revogado.',
  'suspension.pass': 'O documento não está suspenso.',
  'suspension.fail': 'O documento está suspenso.',
  'suspension.unknown': 'Não foi possível ler se está suspenso.',
  'issuer.pass': 'A chave com que foi emitido não está dada como roubada.',
  'issuer.fail': 'A chave com que foi emitido está dada como roubada.',
  'issuer.unknown': 'Não foi possível ler o emissor.',
  'identity.pass': 'O domínio do emissor confirma o emissor.',
  'identity.denied': 'O domínio que o emissor indica não o confirma.',
  'identity.account_not_listed':
    'O domínio do emissor não menciona a conta que o emitiu.',
  'identity.unknown':
    'Não se sabe se um domínio confirma o emissor. Isso não muda o resultado.',
  'identity.no_domain':
    'O emissor não indica nenhum domínio que se possa consultar. Isso não muda o resultado.',
  'identity.unreachable':
    'Não foi possível consultar o domínio do emissor. Isso não muda o resultado.',
  'identity.malformed':
    'O que o domínio publica sobre o emissor não se consegue ler. Isso não muda o resultado.',
  'identity.not_asked':
    'O domínio do emissor não foi consultado. Isso não muda o resultado.',
  'payload.pass': 'O conteúdo foi encontrado e é, letra por letra, o inscrito.',
  'payload.fail': 'O conteúdo foi apagado.',
  'payload.unknown': 'O conteúdo não está disponível.',
  'key.pass': 'A chave do código abre o conteúdo.',
  'key.fail': 'A chave do código não abre o conteúdo.',
  'key.unknown': 'Não se sabe se a chave abre o conteúdo.',
  'content.pass':
    'O conteúdo pertence a este registo, a este emissor e a esta data de validade.',
  'content.fail':
    'O conteúdo viola o formato, não corresponde às impressões digitais dos seus campos, ou pertence a outro registo, emissor ou data de validade.',
  'content.unknown': 'Não se sabe o que diz o conteúdo.',
  'expiry.pass': 'O documento não caducou.',
  'expiry.fail': 'O documento caducou.',
  'expiry.unknown': 'Não se sabe se caducou.',
  'dating.pass': 'A data de emissão não está no futuro.',
  'dating.fail': 'A data de emissão está no futuro.',
  'dating.unknown': 'Não se sabe se a data de emissão está no futuro.',
  'dating.notice': 'Este documento tem uma data futura: {date}.',
  'event.pass': 'A transação que o emitiu foi encontrada.',
  'event.unknown':
    'A transação que o emitiu não foi encontrada. Isso não muda o resultado.',
  'event.contradicts':
    'A transação que o emitiu não corresponde à inscrição. Isso não muda o resultado.',
  'event.pruned':
    'Os nós já não guardam a transação que o emitiu. É normal num documento mais antigo e não muda o resultado.',
  'event.unreachable':
    'Não foi possível consultar a transação que o emitiu. Isso não muda o resultado.',
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
  'why.batch_unknown':
    'O ficheiro de prova não contém a lista com que o documento foi emitido.',
  'why.offline': 'Este dispositivo está sem ligação.',
  'why.no_nodes':
    'Não está indicado nenhum nó da blockchain que se possa consultar.',
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
    'A ligação ou o ficheiro de prova indica outro registo, {registry}. Esta página não confia nele e não o consultou: o resultado é apenas sobre o registo abaixo.',
  'trust.insecure':
    'Esta página chegou por uma ligação não cifrada. Qualquer pessoa na rede a poderia ter alterado.',
  'trust.registry': 'Registo',
  'trust.rpc': 'Nós da blockchain',
  'trust.ipfs': 'Onde o conteúdo é procurado',
  'trust.service': 'o serviço por trás desta página',
  'trust.depends':
    'Um nó pode mentir. Para não depender de ninguém, indique nós seus, ou de várias pessoas que não se conheçam.',
  'trust.quorum': 'De {count} nós, {quorum} têm de dar a mesma resposta.',
  'trust.details': 'Pormenores técnicos',
  'trust.issuer': 'Emissor inscrito',
  'trust.uri': 'Endereço do emissor',
  'trust.account': 'Conta do emissor',
  'trust.added': 'Conta no registo desde o bloco',
  'trust.age': '{block} ({before} blocos antes de emitir isto)',
  'trust.setAside': 'Revogações anuladas após um roubo',
  'trust.setAside.true': 'pelo menos uma',
  'trust.setAside.false': 'nenhuma',
  'trust.block': 'Estado do registo',
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
  'sources.identity': 'Perguntar ao domínio do emissor se o confirma.',
  'sources.identity.hint':
    'O domínio fica então a saber que alguém vê um documento deste emissor, mas não qual.',
  'sources.kept':
    'Este navegador lembra a sua escolha; nunca os códigos dos documentos.',
}
