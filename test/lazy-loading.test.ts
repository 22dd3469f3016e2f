/** What is heavier than all that serves is loaded when somebody asks for it. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { dataFolder, startGatewayProcess } from './gateway-process.ts';

interface Request extends RequestInit {
  readonly path: string;
}

interface Weight {
  /** What can be asked for without it. */
  readonly without: readonly Request[];
  /** Loaded by then, so that it is known to be looked at. */
  readonly light: RegExp;
  readonly heavy: RegExp;
  /** What it is loaded for. */
  readonly by: Request;
}

/** What an ES import of `node:http` would load into each thread that serves: 7 MB. */
const HTTP_CLIENT = 'internal/deps/undici/undici';

const WEIGHTS: Readonly<Record<string, Weight>> = {
  'what describes the gateway': {
    without: [
      ...['/', '/api', '/api/garden', '/api/discover', '/api/nowhere', '/robots.txt'].map(
        (path) => ({ path }),
      ),
      { path: '/api/garden', method: 'POST', body: '{}' },
    ],
    light: /\/doors\/docs\/docs\.ts/,
    heavy: /\/doors\/docs\/(?:pages|guide)\.ts/,
    by: { path: '/llms.txt' },
  },
  'what reads the OpenAPI document': {
    without: ['/', '/api/discover', '/llms.txt', '/speak'].map((path) => ({ path })),
    light: /\/doors\/docs\/files\.ts/,
    heavy: /\/openapi-thread\.ts/,
    by: { path: '/openapi.json' },
  },
  'the pages': {
    without: [
      ...['/', '/api/rooms', '/api/discover', '/openapi.json'].map((path) => ({ path })),
      { path: '/', headers: { accept: 'text/markdown' } },
    ],
    light: /\/doors\/web\/web\.ts/,
    heavy:
      /\/packages\/web\/|\/doors\/web\/(?:pages|entries|forms)\/|\/doors\/web\/(?:send-page|shell|manifest|reference)\.ts/,
    by: { path: '/', headers: { accept: 'text/html' } },
  },
  'the SDK of MCP': {
    without: [
      ...['/api', '/api/discover', '/mcp', '/mcp/server-card'].map((path) => ({ path })),
      { path: '/mcp', method: 'POST', body: 'no message' },
    ],
    light: /\/doors\/mcp\/mcp\.ts/,
    heavy: /@modelcontextprotocol/,
    by: { path: '/mcp', method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' },
  },
};

test('threads that serve load no HTTP client', async () => {
  await using noted = await noteLoaded();
  await using gateway = await startGatewayProcess({ env: noted.env, args: ['--threads', '2'] });
  await (await fetch(gateway.url)).arrayBuffer();
  const loaded = await noted.read();
  assert.equal(loaded.match(/\/http\/http-listener\.ts/g)?.length, 2);
  assert.ok(!loaded.includes(HTTP_CLIENT));
});

suite('nothing of this is loaded before it is asked for:', () => {
  for (const [name, { without, light, heavy, by }] of Object.entries(WEIGHTS)) {
    test(name, async () => {
      await using noted = await noteLoaded();
      await using gateway = await startGatewayProcess({ env: noted.env });
      const ask = async ({ path, ...init }: Request): Promise<void> => {
        await (await fetch(gateway.url + path, init)).arrayBuffer();
      };
      for (const request of without) await ask(request);
      const before = await noted.read();
      assert.match(before, light);
      assert.doesNotMatch(before, heavy);
      await ask(by);
      assert.match(await noted.read(), heavy);
    });
  }
});

interface Noted extends AsyncDisposable {
  /** For the gateway whose modules are noted. */
  readonly env: Readonly<Record<string, string>>;
  read(): Promise<string>;
}

async function noteLoaded(): Promise<Noted> {
  const folder = await dataFolder();
  const list = join(folder.path, 'loaded');
  const hook = join(folder.path, 'hook.mjs');
  await writeFile(list, '');
  await writeFile(hook, noting(list));
  return {
    env: { NODE_OPTIONS: `--import=${pathToFileURL(hook).href}` },
    read: () => readFile(list, 'utf8'),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** A module that writes down each module that is loaded, and the HTTP client once it is there. */
function noting(list: string): string {
  return `import { appendFileSync } from 'node:fs';
    import { registerHooks } from 'node:module';
    registerHooks({ load(url, context, next) {
      const client = process.moduleLoadList.find((name) => name.endsWith('${HTTP_CLIENT}'));
      appendFileSync(${JSON.stringify(list)}, [url, client, ''].join('\\n'));
      return next(url, context);
    } });`;
}
