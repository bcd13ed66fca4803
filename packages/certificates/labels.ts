import type { DocumentPart } from '#document/document.ts'

type Field = Exclude<keyof DocumentPart, 'metadata'>
/** The words that a certificate needs besides those of its issuer. */
export type Labels = Record<Field | 'check' | 'more' | 'wallet', string>

/**
 * The words by BCP 47 tag. A template can use other languages if it has all these words itself
 * (`labels`).
 */
const LABELS = {
  en: {
    subjectName: 'Name',
    subjectId: 'Identifier',
    category: 'Kind of document',
    issuedAt: 'Date of issue',
    expiresAt: 'Valid through',
    supersedes: 'Replaces',
    check: 'Check this document at',
    more: 'Further entries: scan the code',
    wallet: 'Put it into your wallet app',
  },
  de: {
    subjectName: 'Name',
    subjectId: 'Kennnummer',
    category: 'Art des Dokuments',
    issuedAt: 'Ausgestellt am',
    expiresAt: 'Gültig bis',
    supersedes: 'Ersetzt',
    check: 'Prüfen Sie dieses Dokument auf',
    more: 'Weitere Einträge: Code scannen',
    wallet: 'In Ihre Wallet-App legen',
  },
  fr: {
    subjectName: 'Nom',
    subjectId: 'Identifiant',
    category: 'Nature du document',
    issuedAt: 'Délivré le',
    expiresAt: 'Valable jusqu’au',
    supersedes: 'Remplace',
    check: 'Vérifiez ce document sur',
    more: 'Autres mentions : scannez le code',
    wallet: 'À mettre dans votre portefeuille numérique',
  },
  es: {
    subjectName: 'Nombre',
    subjectId: 'Identificador',
    category: 'Tipo de documento',
    issuedAt: 'Fecha de emisión',
    expiresAt: 'Válido hasta',
    supersedes: 'Sustituye a',
    check: 'Compruebe este documento en',
    more: 'Más datos: escanee el código',
    wallet: 'Guárdelo en su cartera digital',
  },
  pt: {
    subjectName: 'Nome',
    subjectId: 'Identificador',
    category: 'Tipo de documento',
    issuedAt: 'Data de emissão',
    expiresAt: 'Válido até',
    supersedes: 'Substitui',
    check: 'Verifique este documento em',
    more: 'Outros dados: leia o código',
    wallet: 'Guarde-o na sua carteira digital',
  },
  ar: {
    subjectName: 'الاسم',
    subjectId: 'رقم التعريف',
    category: 'نوع الوثيقة',
    issuedAt: 'تاريخ الإصدار',
    expiresAt: 'صالحة حتى',
    supersedes: 'تحل محل',
    check: 'تحقّق من هذه الوثيقة على',
    more: 'بيانات أخرى: امسح الرمز',
    wallet: 'ضعها في محفظتك الرقمية',
  },
  hi: {
    subjectName: 'नाम',
    subjectId: 'पहचान संख्या',
    category: 'दस्तावेज़ का प्रकार',
    issuedAt: 'जारी करने की तिथि',
    expiresAt: 'तक मान्य',
    supersedes: 'के स्थान पर',
    check: 'इस दस्तावेज़ की जाँच यहाँ करें',
    more: 'अन्य विवरण: कोड स्कैन करें',
    wallet: 'इसे अपने डिजिटल वॉलेट में रखें',
  },
  ja: {
    subjectName: '氏名',
    subjectId: '識別番号',
    category: '書類の種類',
    issuedAt: '発行日',
    expiresAt: '有効期限',
    supersedes: '差し替え元',
    check: 'この書類の確認先',
    more: 'その他の項目：コードを読み取ってください',
    wallet: 'ウォレットアプリに保存',
  },
  ko: {
    subjectName: '성명',
    subjectId: '식별 번호',
    category: '문서 종류',
    issuedAt: '발급일',
    expiresAt: '유효 기한',
    supersedes: '대체 대상',
    check: '이 문서의 확인',
    more: '추가 항목: 코드를 스캔하세요',
    wallet: '지갑 앱에 저장',
  },
  zh: {
    subjectName: '姓名',
    subjectId: '编号',
    category: '文件类型',
    issuedAt: '签发日期',
    expiresAt: '有效期至',
    supersedes: '取代',
    check: '请在此核验本文件',
    more: '其他内容：请扫描二维码',
    wallet: '存入您的数字钱包',
  },
  'zh-Hant': {
    subjectName: '姓名',
    subjectId: '編號',
    category: '文件類型',
    issuedAt: '簽發日期',
    expiresAt: '有效期至',
    supersedes: '取代',
    check: '請在此查驗本文件',
    more: '其他內容：請掃描二維碼',
    wallet: '存入您的數位錢包',
  },
} satisfies Record<string, Labels>

/** The languages of certificates: those of the verify page, and more. */
export type LabelLanguage = keyof typeof LABELS

export const LABEL_NAMES = Object.keys(LABELS.en) as (keyof Labels)[]

/** @returns The words of a language, also for one of its regions, such as `de-AT` or `zh-TW`. */
export function labelsOf(tag: string): Labels | undefined {
  const { language, script } = new Intl.Locale(tag).maximize()
  const known: Record<string, Labels> = LABELS
  return known[tag] ?? known[`${language}-${script}`] ?? known[language]
}
