/** The OpenAPI document as a page to be read, with nothing loaded from elsewhere. */
import { say } from '@open-presence/protocol';

import { escaped, htmlPage } from './blocks.ts';
import type { Json, Voice } from './components.ts';

const METHODS = ['get', 'post'] as const;

export function referencePage(voice: Voice, document: Json): string {
  const { language, tongue } = voice;
  const info = fields(document['info']);
  const operations = Object.entries(fields(document['paths'])).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = fields(item)[method];
      return operation === undefined ? [] : [{ path, method, operation: fields(operation) }];
    }),
  );
  const contents = operations.map(({ path, method, operation }) => {
    const id = escaped(text(operation['operationId']));
    return `<li><a href="#${id}"><code>${method.toUpperCase()} ${escaped(path)}</code></a></li>`;
  });
  const sections = operations.map((one) => section(voice, document, one));
  const body = [
    `<h1>${escaped(say(language.service, tongue))}</h1>`,
    ...text(info['description'])
      .split('\n\n')
      .map((part) => `<p>${escaped(part)}</p>`),
    `<p><a href="/openapi.json">/openapi.json</a> · <a href="/openapi.yaml">/openapi.yaml</a></p>`,
    `<nav><ul>\n${contents.join('\n')}\n</ul></nav>`,
    ...sections,
  ];
  const title = say(language.service, tongue);
  return htmlPage({ title, tongue: tongue ?? 'en' }, body.join('\n'));
}

interface Described {
  readonly path: string;
  readonly method: string;
  readonly operation: Json;
}

function section(voice: Voice, document: Json, { path, method, operation }: Described): string {
  const { pages } = voice.language;
  const speak = (words: (typeof pages)['first']): string => escaped(say(words, voice.tongue));
  const summary = text(operation['summary']);
  const description = text(operation['description']);
  const parts = [
    `<h2><code>${method.toUpperCase()} ${escaped(path)}</code></h2>`,
    `<p>${escaped(summary)}</p>`,
    description === summary ? '' : `<p>${escaped(description)}</p>`,
    table(`<h3>${speak(pages.parameters)}</h3>`, list(operation['parameters']).map(parameterRow)),
    table(`<h3>${speak(pages.members)}</h3>`, memberRows(voice, document, operation)),
    examples(operation, `<h3>${speak(pages.examples)}</h3>`),
    table(`<h3>${speak(pages.answers)}</h3>`, answerRows(document, operation)),
  ];
  const id = escaped(text(operation['operationId']));
  return `<section id="${id}">\n${parts.filter((part) => part !== '').join('\n')}\n</section>`;
}

function table(heading: string, rows: readonly string[]): string {
  return rows.length === 0 ? '' : `${heading}\n<table>\n${rows.join('\n')}\n</table>`;
}

function row(...cells: readonly string[]): string {
  const [name = '', ...others] = cells;
  const rest = others.map((cell) => `<td>${escaped(cell)}</td>`).join('');
  return `<tr><th scope="row"><code>${escaped(name)}</code></th>${rest}</tr>`;
}

function parameterRow(parameter: unknown): string {
  const { name, description, example } = fields(parameter);
  return row(text(name), text(description), example === undefined ? '' : JSON.stringify(example));
}

/** The members of the body that an operation takes. */
function memberRows(voice: Voice, document: Json, operation: Json): string[] {
  const media = fields(fields(fields(operation['requestBody'])['content'])['application/json']);
  const schema = resolved(document, media['schema']);
  const required = list(schema['required']);
  return Object.entries(fields(schema['properties'])).map(([name, member]) => {
    const { description, examples: shown } = fields(member);
    const must = required.includes(name) ? say(voice.language.pages.required, voice.tongue) : '';
    return row(name, must, text(description), JSON.stringify(list(shown)[0] ?? ''));
  });
}

function examples(operation: Json, heading: string): string {
  const media = fields(fields(fields(operation['requestBody'])['content'])['application/json']);
  const shown = Object.values(fields(media['examples'])).map((example) => {
    const { summary, value } = fields(example);
    const code = escaped(JSON.stringify(value, null, 2));
    return `<p>${escaped(text(summary))}</p>\n<pre><code>${code}</code></pre>`;
  });
  return shown.length === 0 ? '' : [heading, ...shown].join('\n');
}

function answerRows(document: Json, operation: Json): string[] {
  return Object.entries(fields(operation['responses'])).map(([status, response]) => {
    const { description, content } = resolved(document, response);
    return row(status, Object.keys(fields(content)).join(', '), text(description));
  });
}

/** What a reference within the document stands for. */
function resolved(document: Json, value: unknown): Json {
  const { $ref: reference, ...own } = fields(value);
  if (typeof reference !== 'string') return own;
  const steps = reference.split('/').slice(1);
  return fields(steps.reduce<unknown>((at, step) => fields(at)[step], document));
}

function fields(value: unknown): Json {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
