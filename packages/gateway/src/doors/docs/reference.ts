/** The reference page: the OpenAPI document shown by Scalar; without scripts, where to read on. */
import type { Headers } from '../../http/response/headers.ts';
import { pathsById, type DescribedRoute, type Localization } from '../../http/route-description.ts';
import { REFERENCE_SCRIPTS } from './reference-scripts.ts';

/** Scalar sets styles while it runs, so no hash or nonce could allow them. */
export const REFERENCE_HEADERS: Headers = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'unsafe-inline'",
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
};

interface ReferenceContext extends Localization {
  readonly routes: readonly DescribedRoute[];
  readonly root: string;
}

/** Scalar replaces the content of its element. */
export function referencePage(context: ReferenceContext): string {
  const { language, text, root } = context;
  const title = escaped(text(language.service));
  const scripts = REFERENCE_SCRIPTS.map(({ path }) => {
    return `<script src="${root}${path}" defer></script>`;
  });
  return `<!doctype html>
<html lang="${context.locale ?? 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
${scripts.join('\n')}
</head>
<body>
<div id="reference" data-document="${root}/openapi.json">
<main>
<h1>${title}</h1>
<p>${escaped(text(language.pages.withoutScripts))}</p>
<ul>
${furtherReading(context).join('\n')}
</ul>
</main>
</div>
</body>
</html>
`;
}

function furtherReading({ language, text, routes, root }: ReferenceContext): string[] {
  const paths = pathsById(routes);
  return (['protocol', 'openapi', 'llms'] as const).map((name) => {
    const path = escaped(paths.get(name) ?? '');
    return `<li><a href="${root}${path}">${path}</a>: ${escaped(text(language.doors[name]))}</li>`;
  });
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
