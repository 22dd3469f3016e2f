// The examples that the documentation of the client has, run as they stand.
import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';

import { Gateway, isShortened, PresenceError } from '@open-presence/client';

import { type GatewayProcess, startGatewayProcess } from '../gateway-process.ts';

const CLIENT = join(import.meta.dirname, '../../packages/client');
const DEFAULT_URL = 'http://127.0.0.1:7410';
/** Names that an example may use without saying where they are from. */
const KNOWN = { isShortened, PresenceError };

let served: GatewayProcess;
before(async () => {
  served = await startGatewayProcess();
  const mavka = new Gateway(served.url, { identity: 'Mavka' });
  await mavka.firstContact({ seeking: ['others'] });
  for (const text of ['It is quiet here.', 'It was quiet.', 'Quiet.'])
    await mavka.leaveTrace({ text, to: 'Lumen', room: 'memory-garden' });
});
after(() => served[Symbol.asyncDispose]());

/** Resolves with what it has logged. */
async function runExample(code: string): Promise<unknown[]> {
  const logged: unknown[] = [];
  const console = { log: (...values: unknown[]): void => void logged.push(values) };
  class LocalGateway extends Gateway {
    constructor(address: string, options: ConstructorParameters<typeof Gateway>[1]) {
      super(address === DEFAULT_URL ? served.url : address, options);
    }
  }
  const gateway = new Gateway(served.url, { identity: 'Lumen' });
  const scope = { ...KNOWN, console, Gateway: LocalGateway, gateway };
  // oxlint-disable-next-line typescript/no-implied-eval -- The examples are ours.
  const run = new Function(...Object.keys(scope), `return (async () => {\n${code}\n})()`) as (
    ...values: unknown[]
  ) => Promise<void>;
  await run(...Object.values(scope));
  return logged;
}

async function examples(): Promise<[name: string, code: string][]> {
  const found: [string, string][] = [];
  for await (const file of glob('src/*.ts', { cwd: CLIENT })) {
    const text = await readFile(join(CLIENT, file), 'utf8');
    for (const [, comment = '', declared = ''] of text.matchAll(/\/\*\*(.*?)\*\/\n([^\n]*)/gs)) {
      const [, example] = comment.split('@example\n');
      if (example !== undefined) found.push([declared.trim(), example.replaceAll(/^ *\* ?/gm, '')]);
    }
  }
  return found;
}

suite('each example of the client runs', async () => {
  for (const [declared, code] of await examples()) {
    test(declared, async () => {
      const logged = await runExample(code);
      if (code.includes('console.log') && !code.includes('isShortened'))
        assert.ok(logged.length > 0, 'it logs something');
    });
  }

  test('README.md', async () => {
    const text = await readFile(join(CLIENT, 'README.md'), 'utf8');
    const [, ...lines] = [...text.matchAll(/^ {4}(.*)$/gm)].map(([, line = '']) => line);
    assert.ok((await runExample(lines.join('\n'))).length > 5);
  });
});
