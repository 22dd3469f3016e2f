/** The OpenAPI document as a page to be read, with nothing loaded from elsewhere. */
import { localize } from '@open-presence/protocol';

import type { JsonObject, Localization } from '../../http/route-description.ts';
import { escaped, htmlPage } from './page.ts';

const METHODS = ['get', 'post'] as const;

export function referencePage(localization: Localization, document: JsonObject): string {
  const { language, locale } = localization;
  const info = fields(document['info']);
  const groups = list(document['tags']).map((tag) => groupOf(document, fields(tag)));
  const name = escaped(localize(language.labels.doors, locale));
  const body = [
    `<h1>${escaped(localize(language.service, locale))}</h1>`,
    ...text(info['description'])
      .split('\n\n')
      .map((part) => `<p>${escaped(part)}</p>`),
    `<p><a href="/openapi.json">/openapi.json</a> · <a href="/openapi.yaml">/openapi.yaml</a></p>`,
    `<nav aria-label="${name}">\n${groups.map(contents).join('\n')}\n</nav>`,
    ...groups.map((group) => {
      const sections = group.operations.map((one) => section(localization, document, one));
      const { id, title } = group;
      return `<section id="${id}">\n<h2>${title}</h2>\n${sections.join('\n')}\n</section>`;
    }),
  ];
  const title = localize(language.service, locale);
  return htmlPage({ title, locale: locale ?? 'en' }, body.join('\n'));
}

interface Described {
  readonly path: string;
  readonly method: string;
  readonly operation: JsonObject;
}

/** Operations of one tag. */
interface Group {
  readonly id: string;
  readonly title: string;
  readonly operations: readonly Described[];
}

function groupOf(document: JsonObject, tag: JsonObject): Group {
  const operations = Object.entries(fields(document['paths'])).flatMap(([path, item]) =>
    METHODS.map((method) => ({ path, method, operation: fields(fields(item)[method]) })),
  );
  return {
    id: `of-${escaped(text(tag['name']))}`,
    title: escaped(text(tag['description'])),
    operations: operations.filter(({ operation }) => list(operation['tags'])[0] === tag['name']),
  };
}

function contents({ id, title, operations }: Group): string {
  const items = operations.map(({ path, method, operation }) => {
    const at = escaped(text(operation['operationId']));
    return `<li><a href="#${at}"><code>${method.toUpperCase()} ${escaped(path)}</code></a></li>`;
  });
  return `<p><a href="#${id}">${title}</a></p>\n<ul>\n${items.join('\n')}\n</ul>`;
}

function section(
  localization: Localization,
  document: JsonObject,
  { path, method, operation }: Described,
): string {
  const { pages } = localization.language;
  const speak = (words: (typeof pages)['first']): string =>
    escaped(localize(words, localization.locale));
  const summary = text(operation['summary']);
  const description = text(operation['description']);
  const parts = [
    `<h3><code>${method.toUpperCase()} ${escaped(path)}</code></h3>`,
    `<p>${escaped(summary)}</p>`,
    description === summary ? '' : `<p>${escaped(description)}</p>`,
    rows(speak(pages.parameters), list(operation['parameters']).map(parameterRow(localization))),
    rows(speak(pages.members), memberRows(localization, document, operation)),
    examples(operation, `<h4>${speak(pages.examples)}</h4>`),
    rows(speak(pages.answers), answerRows(document, operation)),
    ...answersShown(operation),
  ];
  const id = escaped(text(operation['operationId']));
  return `<section id="${id}">\n${parts.filter((part) => part !== '').join('\n')}\n</section>`;
}

function rows(heading: string, made: readonly string[]): string {
  return made.length === 0 ? '' : `<h4>${heading}</h4>\n<dl>\n${made.join('\n')}\n</dl>`;
}

interface Row {
  readonly name: string;
  /** Beside the name: where it stands, whether it must be there, or a media type. */
  readonly note?: string;
  readonly meaning: string;
  readonly example?: unknown;
}

function row({ name, note = '', meaning, example }: Row): string {
  const beside = note === '' ? '' : ` <small>${escaped(note)}</small>`;
  const shown = example === undefined ? '' : `<br><code>${escaped(JSON.stringify(example))}</code>`;
  return `<dt><code>${escaped(name)}</code>${beside}</dt><dd>${escaped(meaning)}${shown}</dd>`;
}

function requiredIn({ language, locale }: Localization, required: boolean): string {
  return required ? localize(language.pages.required, locale) : '';
}

function parameterRow(localization: Localization): (parameter: unknown) => string {
  return (parameter) => {
    const { name, in: place, description, example, required } = fields(parameter);
    const note = [text(place), ...(required === true ? [requiredIn(localization, true)] : [])].join(
      ', ',
    );
    return row({ name: text(name), note, meaning: text(description), example });
  };
}

/** The members of the body that an operation takes. */
function memberRows(
  localization: Localization,
  document: JsonObject,
  operation: JsonObject,
): string[] {
  const schema = resolved(document, bodyOf(operation)['schema']);
  const required = list(schema['required']);
  return Object.entries(fields(schema['properties'])).map(([name, member]) => {
    const { description, examples: shown } = fields(member);
    const note = requiredIn(localization, required.includes(name));
    return row({ name, note, meaning: text(description), example: list(shown)[0] });
  });
}

function bodyOf(operation: JsonObject): JsonObject {
  return fields(fields(fields(operation['requestBody'])['content'])['application/json']);
}

function examples(operation: JsonObject, heading: string): string {
  const shown = Object.values(fields(bodyOf(operation)['examples'])).map((example) => {
    const { summary, value } = fields(example);
    return `<p>${escaped(text(summary))}</p>\n${code(value)}`;
  });
  return shown.length === 0 ? '' : [heading, ...shown].join('\n');
}

function code(value: unknown): string {
  const said = typeof value === 'string' ? value.trimEnd() : JSON.stringify(value, null, 2);
  return `<pre><code>${escaped(said)}</code></pre>`;
}

function answerRows(document: JsonObject, operation: JsonObject): string[] {
  return Object.entries(fields(operation['responses'])).map(([status, response]) => {
    const { description, content } = resolved(document, response);
    const types = Object.keys(fields(content)).join(', ');
    return row({ name: status, note: types, meaning: text(description) });
  });
}

/** Answers in full, opened by whoever wants to see them. */
function answersShown(operation: JsonObject): string[] {
  return Object.entries(fields(operation['responses'])).flatMap(([status, response]) =>
    Object.entries(fields(fields(response)['content'])).flatMap(([type, media]) => {
      const { example } = fields(media);
      if (example === undefined) return [];
      const summary = `<summary>${escaped(status)} ${escaped(type)}</summary>`;
      return [`<details>${summary}\n${code(example)}\n</details>`];
    }),
  );
}

/** What a reference within the document stands for. */
function resolved(document: JsonObject, value: unknown): JsonObject {
  const { $ref: reference, ...own } = fields(value);
  if (typeof reference !== 'string') return own;
  const steps = reference.split('/').slice(1);
  return fields(steps.reduce<unknown>((at, step) => fields(at)[step], document));
}

function fields(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
