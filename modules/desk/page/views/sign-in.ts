import { CallError, type Session } from '#client/index.ts'
import { h } from '#web/dom.ts'
import { d, quoted } from '../i18n.ts'
import { wordsOf } from '../problems.ts'
import {
  goToProvider,
  invitationIn,
  isAddress,
  mayUsePasskeys,
  readProvider,
  readSession,
  useInvitation,
  usePasskey,
} from '../session.ts'
import { field, hint, outside, viewTrouble } from './parts.ts'

type Options = {
  /** The secret of the link that was opened. */
  invitation?: string | undefined
  /** The code with which the last attempt was refused. */
  refused?: string | undefined
  /** Whether another tab may have signed in meanwhile. */
  isAgain?: boolean
  /** The person who is signed in already, and what leaves it at that. */
  present?: { name: string; stay(): void } | undefined
  done(session: Session): void
}

/**
 * The ways to sign in. A link is used only when its button is pressed, because it works once, and
 * programs that look at links before their readers would use it up.
 */
export function viewSignIn(options: Options): HTMLElement {
  const { invitation, refused, isAgain = false, present, done } = options
  const trouble = viewTrouble(
    refused && wordsOf(new CallError(refused as CallError['code'], 'refused')),
  )
  const attempt = (how: () => Promise<Session | undefined>) => async () => {
    trouble.textContent = ''
    try {
      const session = await how()
      if (session) done(session)
      else trouble.textContent = d('signIn.notYet')
    } catch (error) {
      trouble.textContent = troubleOf(error)
    }
  }
  const link = h('input', {
    id: 'link',
    type: 'text',
    autocomplete: 'off',
    spellcheck: 'false',
    dir: 'ltr',
  })
  const withLink = async () => {
    const secret = invitationIn(link.value)
    if (secret === undefined) throw new CallError('bad_request', 'not a sign-in link')
    return useInvitation(secret)
  }
  return h(
    'div',
    { class: 'sign-in' },
    invitation !== undefined && h('p', {}, d('signIn.invited')),
    invitation !== undefined &&
      button(
        d('signIn.use'),
        true,
        attempt(() => useInvitation(invitation)),
      ),
    present && button(d('signIn.stay', { name: quoted(present.name) }), false, present.stay),
    mayUsePasskeys() && button(d('signIn.passkey'), invitation === undefined, attempt(usePasskey)),
    viewProvider(isAgain, attempt),
    isAgain && button(d('signIn.meanwhile'), false, attempt(readSession)),
    trouble,
    h(
      'form',
      {
        submit: (event: Event) => {
          event.preventDefault()
          attempt(withLink)()
        },
      },
      field(d('signIn.link'), link, { hint: d('signIn.link.hint') }),
      h('div', { class: 'ways' }, h('button', { type: 'submit' }, d('signIn.go'))),
    ),
    isAddress() && hint(d('signIn.address')),
  )
}

/** Whoever is asked to sign in again stays here, where the form is, and signs in in another tab. */
function viewProvider(
  isAgain: boolean,
  attempt: (how: () => Promise<undefined>) => () => void,
): HTMLElement {
  const place = h('div', { class: 'provider' })
  const leave = async () => {
    await goToProvider()
    return undefined
  }
  readProvider().then((name) => {
    if (name === undefined) return
    place.append(
      isAgain
        ? outside(location.pathname, d('signIn.otherTab'))
        : button(d('signIn.provider', { name: quoted(name) }), false, attempt(leave)),
    )
  })
  return place
}

function button(label: string, isFirst: boolean, click: () => void): HTMLElement {
  return h('button', { type: 'button', class: isFirst ? 'primary' : undefined, click }, label)
}

function troubleOf(error: unknown): string {
  if (error instanceof CallError)
    return error.code === 'bad_request' ? d('signIn.bad') : wordsOf(error)
  // The person, or the browser, refused to use a passkey.
  return d('signIn.refused')
}
