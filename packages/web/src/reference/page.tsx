/** The reference page: the OpenAPI document shown by Scalar; without scripts, where to read on. */
import { renderToString } from 'preact-render-to-string';

import { addressOf } from '../assets.ts';
import type { ReferenceData } from './reference-data.ts';

/** `client.ts` replaces the content of the element. */
export function renderReference(data: ReferenceData): string {
  const { locale, title, withoutScripts, furtherReading, root } = data;
  const html = renderToString(
    <html lang={locale}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title}</title>
        <link rel="icon" href="data:," />
        <script src={root + addressOf('src/reference/client.ts')} type="module" />
      </head>
      <body>
        <div id="reference" data-document={`${root}/openapi.json`}>
          <main>
            <h1>{title}</h1>
            <p>{withoutScripts}</p>
            <ul>
              {furtherReading.map(({ path, text }) => (
                <li key={path}>
                  <a href={root + path}>{path}</a>: {text}
                </li>
              ))}
            </ul>
          </main>
        </div>
      </body>
    </html>,
  );
  return `<!doctype html>${html}`;
}
