import type { IdentityAddress } from '#verifier/identity.ts'

/** @returns Configuration for common servers that lets pages of any origin read the file. */
export function serverLinesFor({ url }: IdentityAddress): string[] {
  const { pathname } = new URL(url)
  const folder = pathname.slice(0, pathname.lastIndexOf('/') + 1)
  return [
    '',
    `Apache, in .htaccess of the folder ${folder} (with mod_headers):`,
    '',
    '  <Files "did.json">',
    '    ForceType application/json',
    '    Header set Access-Control-Allow-Origin "*"',
    '  </Files>',
    '',
    'nginx, in the server block:',
    '',
    `  location = ${pathname} {`,
    '    default_type application/json;',
    '    add_header Access-Control-Allow-Origin "*" always;',
    '  }',
    '',
    'Netlify and Cloudflare Pages, in the file _headers:',
    '',
    `  ${pathname}`,
    '    Access-Control-Allow-Origin: *',
    '    Content-Type: application/json',
    '',
    'GitHub Pages sends the header itself; an empty file .nojekyll in the root makes it publish',
    'folders that begin with a dot.',
  ]
}
