/** The SDK is heavier than the gateway: it is loaded when somebody speaks MCP. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { dataFolder, startGatewayProcess } from '../gateway-process.ts';

test('nothing of the SDK is loaded before somebody speaks MCP', async () => {
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
  for (const path of ['/api', '/api/discover', '/mcp', '/mcp/server-card']) await ask(path);
  await ask('/mcp', { method: 'POST', body: 'no message' });
  const before = await readFile(list, 'utf8');
  assert.match(before, /\/doors\/mcp\/mcp\.ts/);
  assert.doesNotMatch(before, /@modelcontextprotocol/);
  const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
  await ask('/mcp', { method: 'POST', body });
  assert.match(await readFile(list, 'utf8'), /@modelcontextprotocol\/server/);
});
