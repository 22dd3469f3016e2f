/** Requests as code that works as it stands when it is copied. */
import type { CodeExample } from '@open-presence/web/page-data';

import type { JsonObject } from '../../../http/route-description.ts';

/** Without a body, a `GET`. */
interface ExampleRequest {
  readonly url: string;
  readonly body?: JsonObject | undefined;
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
  const address = JSON.stringify(url);
  const javaScript = `const response = await fetch(${address}, {
  headers: { Accept: "text/event-stream" },
});
for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
  console.log(text);
}`;
  const python = `from urllib.request import urlopen

for line in urlopen(${address}):
    print(line.decode(), end="", flush=True)`;
  return [
    { name: 'curl', language: 'shell', code: `curl -N ${shellWord(url)}` },
    { name: 'JavaScript', language: 'javascript', code: javaScript },
    { name: 'Python', language: 'python', code: python },
  ];
}

/** One argument of a command, for POSIX shells. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

export function curl({ url, body }: ExampleRequest): string {
  if (body === undefined) return `curl ${shellWord(url)}`;
  return `curl ${shellWord(url)} \\
  -H 'Content-Type: application/json' \\
  -d ${shellWord(JSON.stringify(body))}`;
}

function javaScript({ url, body }: ExampleRequest): string {
  const address = JSON.stringify(url);
  const options =
    body === undefined
      ? ''
      : `, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')}),
}`;
  return `const response = await fetch(${address}${options});
console.log(await response.json());`;
}

function python({ url, body }: ExampleRequest): string {
  const address = JSON.stringify(url);
  if (body === undefined)
    return `import json
from urllib.request import urlopen

print(json.load(urlopen(${address})))`;
  const members = Object.entries(body).map(([name, value]) => {
    return `    ${JSON.stringify(name)}: ${pythonLiteral(value)},`;
  });
  return `import json
from urllib.request import Request, urlopen

body = {
${members.join('\n')}
}
request = Request(
    ${address},
    json.dumps(body).encode(),
    {"Content-Type": "application/json"},
)
print(json.load(urlopen(request)))`;
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
