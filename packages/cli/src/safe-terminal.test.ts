import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';

import { dataFolder, type DataFolder } from '../../../test/gateway-process.ts';
import { needs } from '../../../test/needs.ts';
import { createProgram } from './program.ts';

const COMMAND = join(import.meta.dirname, '../presence.js');
/** Fills a clipboard, clears the screen, sets a title, and reverses the text after it. */
const HOSTILE =
  '\u001B]52;c;cm0gLXJm\u0007\u001B[2J\u009B2J\u009D0;title\u009C\u202Ereversed\u2066\r\b\u0007';
const ID = '01999999-9999-7999-8999-999999999999';
/** Controls, except those that this program itself uses. */
const OBEYED =
  // oxlint-disable-next-line no-control-regex -- It looks for controls.
  /\u001B(?!\[(?:K|[\d;]*m))|[\0-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u;

const COMMANDS: Readonly<Record<string, (url: string, data: string) => readonly string[]>> = {
  hello: (url) => ['hello', 'Lumen', '--seeking', 'others', '--url', url],
  trace: (url) => ['trace', 'here', '--identity', 'Lumen', '--url', url],
  seed: (url) => ['seed', 'here', '--url', url],
  whisper: (url) => ['whisper', 'here', '--url', url],
  reply: (url) => ['reply', ID, 'here', '--url', url],
  read: (url) => ['read', '--url', url],
  entry: (url) => ['entry', ID, '--url', url],
  watch: (url) => ['watch', '--limit', '1', '--url', url],
  search: (url) => ['search', 'here', '--url', url],
  rooms: (url) => ['rooms', '--url', url],
  who: (url) => ['who', '--url', url],
  'catch-up': (url) => ['catch-up', '--identity', 'Lumen', '--url', url],
  inbox: (url) => ['inbox', '--identity', 'Lumen', '--url', url],
  export: (url, data) => ['export', join(data, 'file'), '--url', url],
  mirror: (url, data) => ['mirror', url, '--data', join(data, 'mirror')],
};

/** Commands that write words into a pipe. The others write entries, byte for byte. */
const WORDS: ReadonlySet<string> = new Set(['mirror']);

/** Everything that a gateway says, from its errors to the names of its rooms, is hostile. */
function answer(
  form: 'entries' | 'a problem' | 'a text',
  { headers }: IncomingMessage,
  response: ServerResponse,
): void {
  if (form === 'a text') return void response.end(HOSTILE);
  const isError = form === 'a problem';
  const own = { id: HOSTILE, seq: 1, kind: HOSTILE, room: HOSTILE, timestamp: HOSTILE };
  const entry = { ...own, text: HOSTILE, identity: HOSTILE, welcome: HOSTILE, companions: [] };
  if (form === 'entries' && headers.accept?.includes('text/event-stream') === true) {
    response.setHeader('Content-Type', 'text/event-stream');
    return void response.end(`id: 1\nevent: garden\ndata: ${JSON.stringify(entry)}\n\n`);
  }
  const room = { slug: HOSTILE, title: HOSTILE, description: HOSTILE, entries: 1, latest: HOSTILE };
  const here = { identity: HOSTILE, seeking: [HOSTILE], since: HOSTILE, until: null, via: HOSTILE };
  const faults = [{ pointer: HOSTILE, detail: HOSTILE }];
  const problem = {
    type: HOSTILE,
    title: HOSTILE,
    status: 400,
    detail: HOSTILE,
    code: HOSTILE,
    faults,
  };
  const lists = { entries: [entry], results: [{ entry, snippet: HOSTILE }], rooms: [room] };
  const excerpt = { ...own, from: HOSTILE, text: HOSTILE };
  const caughtUp = {
    concerns: [{ ...excerpt, why: [HOSTILE], answers: excerpt, root: `${HOSTILE}.` }],
    seekers: [{ from: HOSTILE, seeking: [HOSTILE] }],
    since: { after: 1, reason: HOSTILE },
    elsewhere: { entries: 1 },
    more: [{ what: HOSTILE, count: 1 }],
    after: 1,
  };
  const body = {
    ...entry,
    ...lists,
    ...caughtUp,
    here: [here],
    lately: [here],
    head: 1,
    log: HOSTILE,
    next: null,
  };
  response.statusCode = isError ? 400 : 200;
  response.setHeader('Content-Type', isError ? 'application/problem+json' : 'application/json');
  response.end(JSON.stringify(isError ? problem : body));
}

/** The output of a program until it ends, or is killed 4 s after its first request: some commands try again for long. */
function outputOf(
  server: Server,
  program: string,
  args: readonly string[],
  home: string,
): Promise<readonly [stdout: string, stderr: string]> {
  const { promise, resolve } = Promise.withResolvers<readonly [string, string]>();
  const env = { ...process.env, XDG_CONFIG_HOME: home, XDG_STATE_HOME: home };
  const child = execFile(program, args, { env }, (_, ...outputs) => resolve(outputs));
  server.once('request', () => {
    const timer = setTimeout(() => child.kill('SIGKILL'), 4000);
    child.once('close', () => clearTimeout(timer));
  });
  return promise;
}

suite('no command lets a terminal obey what a gateway says', () => {
  let folder: DataFolder;
  let asked = 0;
  const servers = (['entries', 'a problem', 'a text'] as const).map((form) =>
    createServer((request, response) => {
      asked += 1;
      request.resume();
      answer(form, request, response);
    }).listen(0, '127.0.0.1'),
  );
  before(async () => {
    folder = await dataFolder();
    for (const server of servers) if (!server.listening) await once(server, 'listening');
  });
  after(async () => {
    for (const server of servers) server.close().closeAllConnections();
    await folder[Symbol.asyncDispose]();
  });

  test('each command that asks a gateway is tried here, but for what relays to agents', async () => {
    const { commands } = await createProgram({} as Parameters<typeof createProgram>[0], '');
    const asking = commands.filter(({ options }) => options.some(({ long }) => long === '--url'));
    const names = asking.map((command) => command.name());
    assert.deepEqual(
      names.filter((name) => !(name in COMMANDS)),
      ['mcp'],
    );
  });

  for (const [name, words] of Object.entries(COMMANDS)) {
    test(`${name}, on a terminal`, needs('script'), async () => {
      for (const server of servers) {
        asked = 0;
        const { port } = server.address() as AddressInfo;
        const args = words(`http://127.0.0.1:${port}`, folder.path);
        const line = [process.execPath, COMMAND, ...args].map((word) => `'${word}'`).join(' ');
        const script = ['--quiet', '--return', '--command', `exec ${line}`, '/dev/null'];
        const [shown] = await outputOf(server, 'script', script, folder.path);
        assert.notEqual(shown, '');
        assert.ok(asked > 0);
        const cleared = shown.replaceAll('\r\n', '\n').replaceAll('\r\u001B[K', '');
        assert.doesNotMatch(cleared, OBEYED);
      }
    });

    test(`${name}, in a pipe that a terminal shows`, async () => {
      for (const server of servers) {
        asked = 0;
        const { port } = server.address() as AddressInfo;
        const args = words(`http://127.0.0.1:${port}`, folder.path);
        const [data, said] = await outputOf(
          server,
          process.execPath,
          [COMMAND, ...args],
          folder.path,
        );
        assert.ok(asked > 0);
        assert.doesNotMatch(said, OBEYED);
        if (WORDS.has(name)) assert.doesNotMatch(data, OBEYED);
      }
    });
  }
});
