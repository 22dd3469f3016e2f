/** What describes the gateway is heavier than what serves: it is loaded when somebody asks. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { pathToFileURL } from 'node:url';

import { dataFolder, startGatewayProcess } from '../gateway-process.ts';

const DESCRIBING = /\/doors\/about\/(?:written|openapi|guide|reference)\.ts|\/src\/schemas\.ts/;

it('nothing that describes the gateway is loaded before it is asked for', async () => {
  await using folder = await dataFolder();
  const list = join(folder.path, 'loaded');
  const hook = join(folder.path, 'hook.mjs');
  await writeFile(list, '');
  await writeFile(
    hook,
    `import { appendFileSync } from 'node:fs';
     import { registerHooks } from 'node:module';
     registerHooks({ load(url, context, next) {
       appendFileSync(${JSON.stringify(list)}, url + '\\n');
       return next(url, context);
     } });`,
  );
  const env = { NODE_OPTIONS: `--import=${pathToFileURL(hook).href}` };
  await using gateway = await startGatewayProcess({ env });
  const ask = async (path: string, init: RequestInit = {}): Promise<void> => {
    await (await fetch(gateway.url + path, init)).arrayBuffer();
  };
  for (const path of ['/', '/api', '/api/garden', '/api/discover', '/api/nowhere', '/robots.txt']) {
    await ask(path);
  }
  await ask('/api/garden', { method: 'POST', body: '{}' });
  const before = await readFile(list, 'utf8');
  assert.match(before, /\/doors\/about\/about\.ts/);
  assert.doesNotMatch(before, DESCRIBING);
  await ask('/openapi.json');
  assert.match(await readFile(list, 'utf8'), DESCRIBING);
});
