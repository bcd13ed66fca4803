import { hasCamera } from '../camera.ts'
import { h, icon } from '../dom.ts'
import { t } from '../i18n.ts'
import type { Actions, State } from '../state.ts'

const FILES = 'image/*,application/json,.json,application/pdf,.pdf,text/plain,.txt'
const CAMERA = ['M4 8h3l2-3h6l2 3h3v11H4z', 'M12 9.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z']
const WALLET = ['M4 7h16v12H4z', 'M4 7l11-3v3', 'M16 12h4v3h-4z']
const PICTURE = ['M4 5h16v14H4z', 'm4 16 5-5 4 4 3-3 4 4', 'M15 9h.01']

/** The form for the subject to check. */
export function viewAsk(state: State, actions: Actions): HTMLElement {
  const first = state.phase.at === 'ask'
  const input = h('input', {
    id: 'number',
    type: 'text',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
    dir: 'ltr',
    'aria-describedby': 'problem',
    'aria-invalid': state.problem === undefined ? 'false' : 'true',
  })
  const camera = h('div', { class: 'camera' })
  return h(
    'section',
    { class: first ? 'ask' : 'ask again', 'aria-labelledby': 'ask' },
    first
      ? h('h1', { id: 'ask', tabindex: '-1' }, t('ask.heading'))
      : h('h2', { id: 'ask' }, t('ask.another')),
    first && h('p', { class: 'lead' }, t('ask.lead')),
    h(
      'form',
      {
        submit: (event: SubmitEvent) => {
          event.preventDefault()
          actions.checkText(input.value)
        },
      },
      h('label', { for: 'number' }, t('ask.label')),
      h(
        'div',
        { class: 'row' },
        input,
        h('button', { type: 'submit', class: 'primary' }, t('ask.check')),
      ),
      h(
        'p',
        { id: 'problem', class: 'problem', role: 'alert' },
        state.problem && t(`error.${state.problem}`),
      ),
    ),
    h(
      'div',
      { class: 'ways' },
      hasCamera() && cameraButton(camera, actions),
      fileButton(actions),
      actions.askWallets &&
        h(
          'button',
          { type: 'button', click: actions.askWallets },
          icon(...WALLET),
          t('ask.wallet'),
        ),
    ),
    camera,
    h('p', { class: 'hint' }, t('ask.drop')),
  )
}

function fileButton(actions: Actions): HTMLElement {
  const input = h('input', {
    type: 'file',
    accept: FILES,
    class: 'unseen',
    change: () => {
      const [file] = input.files ?? []
      if (file) actions.checkFile(file)
      input.value = ''
    },
  })
  return h('label', { class: 'button' }, input, icon(...PICTURE), t('ask.file'))
}

function cameraButton(panel: HTMLElement, actions: Actions): HTMLElement {
  let stop: (() => void) | undefined
  const button = h('button', { type: 'button', click: toggle })
  const label = (text: string) => button.replaceChildren(icon(...CAMERA), text)
  label(t('ask.camera'))

  function end(): void {
    stop?.()
    stop = undefined
    panel.replaceChildren()
    label(t('ask.camera'))
  }

  async function toggle(): Promise<void> {
    if (stop) {
      end()
      return
    }
    const video = h('video', {
      muted: true,
      playsinline: true,
      'aria-label': t('camera.alt'),
    })
    panel.replaceChildren(h('p', { role: 'status' }, t('camera.hold')), video)
    label(t('camera.stop'))
    stop = () => {}
    try {
      const stopCamera = await actions.useCamera(video)
      // The camera was stopped, or the page moved on, while the browser asked for permission.
      if (stop === undefined || !panel.isConnected) stopCamera()
      else stop = stopCamera
    } catch {
      end()
      actions.tellProblem('camera')
    }
  }
  return button
}
