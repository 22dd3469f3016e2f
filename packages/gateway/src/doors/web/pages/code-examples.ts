/** Requests as code that works as it stands when it is copied. */
import type { CodeExample } from '@open-presence/web/page-data';

import type { JsonObject } from '../../../http/route-description.ts';

/** Without a body, a `GET`. */
interface ExampleRequest {
  readonly url: string;
  readonly body?: JsonObject;
}

/** The same request for each program. */
export function requestExamples(request: ExampleRequest): CodeExample[] {
  return [
    { name: 'curl', language: 'shell', code: curl(request) },
    { name: 'JavaScript', language: 'javascript', code: javaScript(request) },
    { name: 'Python', language: 'python', code: python(request) },
  ];
}

/** A reader of an event stream for each program. It reads until it is stopped. */
export function streamExamples(url: string): CodeExample[] {
  const scriptLines = [
    `const response = await fetch(${JSON.stringify(url)}, {`,
    '  headers: { Accept: "text/event-stream" },',
    '});',
    'for await (const text of response.body.pipeThrough(new TextDecoderStream())) {',
    '  console.log(text);',
    '}',
  ];
  const pythonLines = [
    'from urllib.request import urlopen',
    '',
    `for line in urlopen(${JSON.stringify(url)}):`,
    '    print(line.decode(), end="", flush=True)',
  ];
  return [
    { name: 'curl', language: 'shell', code: `curl -N ${shellWord(url)}` },
    { name: 'JavaScript', language: 'javascript', code: scriptLines.join('\n') },
    { name: 'Python', language: 'python', code: pythonLines.join('\n') },
  ];
}

/** One argument of a command, for POSIX shells. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

export function curl({ url, body }: ExampleRequest): string {
  if (body === undefined) return `curl ${shellWord(url)}`;
  return [
    `curl ${shellWord(url)} \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d ${shellWord(JSON.stringify(body))}`,
  ].join('\n');
}

function javaScript({ url, body }: ExampleRequest): string {
  const address = JSON.stringify(url);
  const call =
    body === undefined
      ? [`const response = await fetch(${address});`]
      : [
          `const response = await fetch(${address}, {`,
          '  method: "POST",',
          '  headers: { "Content-Type": "application/json" },',
          `  body: JSON.stringify(${indented(JSON.stringify(body, null, 2), '  ')}),`,
          '});',
        ];
  return [...call, 'console.log(await response.json());'].join('\n');
}

function python({ url, body }: ExampleRequest): string {
  const address = JSON.stringify(url);
  if (body === undefined) {
    return [
      'import json',
      'from urllib.request import urlopen',
      '',
      `print(json.load(urlopen(${address})))`,
    ].join('\n');
  }
  const members = Object.entries(body).map(([name, value]) => {
    return `    ${JSON.stringify(name)}: ${pythonLiteral(value)},`;
  });
  return [
    'import json',
    'from urllib.request import Request, urlopen',
    '',
    'body = {',
    ...members,
    '}',
    'request = Request(',
    `    ${address},`,
    '    json.dumps(body).encode(),',
    '    {"Content-Type": "application/json"},',
    ')',
    'print(json.load(urlopen(request)))',
  ].join('\n');
}

function indented(text: string, indent: string): string {
  return text.replaceAll('\n', `\n${indent}`);
}

const PYTHON_CONSTANTS: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [null, 'None'],
  [true, 'True'],
  [false, 'False'],
]);

/** A JSON value. Python reads strings and numbers as JSON writes them. */
function pythonLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`;
  if (typeof value !== 'object' || value === null) {
    return PYTHON_CONSTANTS.get(value) ?? JSON.stringify(value);
  }
  const members = Object.entries(value).map(([name, member]) => {
    return `${JSON.stringify(name)}: ${pythonLiteral(member)}`;
  });
  return `{${members.join(', ')}}`;
}
