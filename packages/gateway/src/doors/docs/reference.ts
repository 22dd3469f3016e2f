/** The OpenAPI document as a page to be read, with nothing loaded from elsewhere. */

import type { JsonObject, Localization } from '../../http/route-description.ts';
import { toJsonObject } from '../../json/json-object.ts';
import { escaped, htmlPage } from './page.ts';

const METHODS = ['get', 'post'] as const;

export function referencePage(localization: Localization, document: JsonObject): string {
  const { language, locale, text } = localization;
  const info = toJsonObject(document['info']);
  const groups = list(document['tags']).map((tag) => groupOf(document, toJsonObject(tag)));
  const title = text(language.service);
  const name = escaped(text(language.labels.doors));
  const body = [
    `<h1>${escaped(title)}</h1>`,
    ...stringOf(info['description'])
      .split('\n\n')
      .map((part) => `<p>${escaped(part)}</p>`),
    `<p><a href="/openapi.json">/openapi.json</a> · <a href="/openapi.yaml">/openapi.yaml</a></p>`,
    `<nav aria-label="${name}">\n${groups.map(contents).join('\n')}\n</nav>`,
    ...groups.map((group) => {
      const sections = group.operations.map((operation) => {
        return section(localization, document, operation);
      });
      return `<section id="${group.id}">\n<h2>${group.title}</h2>\n${sections.join('\n')}\n</section>`;
    }),
  ];
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
  const operations = Object.entries(toJsonObject(document['paths'])).flatMap(([path, item]) =>
    METHODS.map((method) => ({
      path,
      method,
      operation: toJsonObject(toJsonObject(item)[method]),
    })),
  );
  return {
    id: `of-${escaped(stringOf(tag['name']))}`,
    title: escaped(stringOf(tag['description'])),
    operations: operations.filter(({ operation }) => list(operation['tags'])[0] === tag['name']),
  };
}

function contents({ id: groupId, title, operations }: Group): string {
  const items = operations.map(({ path, method, operation }) => {
    const id = escaped(stringOf(operation['operationId']));
    return `<li><a href="#${id}"><code>${method.toUpperCase()} ${escaped(path)}</code></a></li>`;
  });
  return `<p><a href="#${groupId}">${title}</a></p>\n<ul>\n${items.join('\n')}\n</ul>`;
}

function section(
  localization: Localization,
  document: JsonObject,
  { path, method, operation }: Described,
): string {
  const { language, text } = localization;
  const { pages } = language;
  const summary = stringOf(operation['summary']);
  const description = stringOf(operation['description']);
  const parts = [
    `<h3><code>${method.toUpperCase()} ${escaped(path)}</code></h3>`,
    `<p>${escaped(summary)}</p>`,
    description === summary ? '' : `<p>${escaped(description)}</p>`,
    table(text(pages.parameters), list(operation['parameters']).map(parameterRow(localization))),
    table(text(pages.members), memberRows(localization, document, operation)),
    examples(operation, text(pages.examples)),
    table(text(pages.answers), answerRows(document, operation)),
    ...answersShown(operation),
  ];
  const id = escaped(stringOf(operation['operationId']));
  return `<section id="${id}">\n${parts.filter((part) => part !== '').join('\n')}\n</section>`;
}

function table(heading: string, rows: readonly string[]): string {
  return rows.length === 0 ? '' : `<h4>${escaped(heading)}</h4>\n<dl>\n${rows.join('\n')}\n</dl>`;
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

function parameterRow({ language, text }: Localization): (parameter: unknown) => string {
  return (parameter) => {
    const { name, in: place, description, example, required } = toJsonObject(parameter);
    const must = required === true ? `, ${text(language.pages.required)}` : '';
    const note = stringOf(place) + must;
    return row({ name: stringOf(name), note, meaning: stringOf(description), example });
  };
}

/** The members of the body that an operation takes. */
function memberRows(
  { language, text }: Localization,
  document: JsonObject,
  operation: JsonObject,
): string[] {
  const schema = resolved(document, bodyOf(operation)['schema']);
  const required = list(schema['required']);
  return Object.entries(toJsonObject(schema['properties'])).map(([name, member]) => {
    const { description, examples: shown } = toJsonObject(member);
    const note = required.includes(name) ? text(language.pages.required) : '';
    return row({ name, note, meaning: stringOf(description), example: list(shown)[0] });
  });
}

function bodyOf(operation: JsonObject): JsonObject {
  return toJsonObject(
    toJsonObject(toJsonObject(operation['requestBody'])['content'])['application/json'],
  );
}

function examples(operation: JsonObject, heading: string): string {
  const shown = Object.values(toJsonObject(bodyOf(operation)['examples'])).map((example) => {
    const { summary, value } = toJsonObject(example);
    return `<p>${escaped(stringOf(summary))}</p>\n${code(value)}`;
  });
  return shown.length === 0 ? '' : [`<h4>${escaped(heading)}</h4>`, ...shown].join('\n');
}

function code(value: unknown): string {
  const source = typeof value === 'string' ? value.trimEnd() : JSON.stringify(value, null, 2);
  return `<pre><code>${escaped(source)}</code></pre>`;
}

function answerRows(document: JsonObject, operation: JsonObject): string[] {
  return Object.entries(toJsonObject(operation['responses'])).map(([status, response]) => {
    const { description, content } = resolved(document, response);
    const types = Object.keys(toJsonObject(content)).join(', ');
    return row({ name: status, note: types, meaning: stringOf(description) });
  });
}

/** Answers in full, opened by whoever wants to see them. */
function answersShown(operation: JsonObject): string[] {
  return Object.entries(toJsonObject(operation['responses'])).flatMap(([status, response]) =>
    Object.entries(toJsonObject(toJsonObject(response)['content'])).flatMap(([type, media]) => {
      const { example } = toJsonObject(media);
      if (example === undefined) return [];
      const summary = `<summary>${escaped(status)} ${escaped(type)}</summary>`;
      return [`<details>${summary}\n${code(example)}\n</details>`];
    }),
  );
}

/** What a reference within the document stands for. */
function resolved(document: JsonObject, value: unknown): JsonObject {
  const { $ref: reference, ...own } = toJsonObject(value);
  if (typeof reference !== 'string') return own;
  const steps = reference.split('/').slice(1);
  return toJsonObject(steps.reduce<unknown>((at, step) => toJsonObject(at)[step], document));
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
