import { operation, resource } from '../core/operation.ts'
import { createPageHandler } from '../pages/built-page.ts'

const VERIFY_PAGE = operation({
  operationId: 'showVerifyPage',
  route: 'GET /verify',
  tag: 'Public',
  summary: 'Show the page to which QR codes lead',
  description:
    "The reader's browser makes every check. It reads the publicId from the fragment, which is not sent to any server.",
  scope: 'public',
  answer: { description: 'The page.', content: { 'text/html': null } },
})

/** Serves the page for readers of a QR code. */
export const pageRoutes = resource([VERIFY_PAGE], (serve, { verifyPage }) => {
  serve(VERIFY_PAGE, createPageHandler(verifyPage, 'camera=(self)'))
})
