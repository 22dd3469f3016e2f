// Files that could stand in the tree, each of one import or export: some break a dependency rule, the
// others none.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, suite, test } from 'node:test';

import config from '../../oxlint.config.ts';
import { dataFolder } from '../gateway-process.ts';

const ROOT = join(import.meta.dirname, '../..');

/** What no folder below the doors may import. */
const ABOVE = ['../doors/rest/rest.ts', '../http/router.ts', '../gateway.ts', '../store/store.ts'];
const STORE_ABOVE = [
  '../../doors/rest/rest.ts',
  '../../http/router.ts',
  '../../operations/contribution/append.ts',
  '../../gateway.ts',
];

/** By the rule that is broken, and the folder below `packages`: what a file there imports. */
const BROKEN: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'protocol imports nothing of ours.': { 'protocol/src': ['@open-presence/gateway'] },
  'protocol is browser-safe.': { 'protocol/src': ['node:fs'] },
  'The client imports nothing of ours but protocol.': { 'client/src': ['@open-presence/gateway'] },
  'The client runs in browsers.': { 'client/src': ['node:fs'] },
  'web imports no package of ours but client and protocol.': {
    'web/src': ['@open-presence/gateway'],
  },
  'The pages run in browsers.': { 'web/src': ['node:fs'] },
  'The cluster imports nothing of ours but the port of the gateway, and protocol.': {
    'cluster/src': ['@open-presence/gateway'],
    'cluster/src/stream': ['@open-presence/gateway/json'],
  },
  'Another package is imported by its name.': {
    'cluster/src/stream': ['../../../gateway/src/store/store.ts'],
    'gateway/src': ['../../cli/src/main.ts'],
  },
  'Only packages/cli/src/main.ts knows the process.': { 'gateway/src': ['node:process'] },
  'The gateway imports no package of ours but protocol and web.': {
    'gateway/src': ['@open-presence/cli', '@open-presence/cluster'],
  },
  'Only routes.ts knows all doors.': { 'gateway/src': ['./doors/rest/rest.ts'] },
  'Only the composition root and its threads import the store.': {
    'gateway/src': ['./store/store.ts'],
  },
  'log imports only protocol.': { 'gateway/src/log': ABOVE },
  'metrics imports only protocol.': { 'gateway/src/metrics': ['../http/router.ts'] },
  'json imports only protocol and log.': { 'gateway/src/json': ABOVE },
  'search imports only protocol and log, json.': { 'gateway/src/search': ABOVE },
  'intake imports only protocol and log, json, search.': { 'gateway/src/intake': ABOVE },
  'feed imports only protocol and log.': { 'gateway/src/feed': ABOVE },
  'presence imports only protocol and log.': { 'gateway/src/presence': ABOVE },
  'store imports only protocol and log, json, search, metrics.': {
    'gateway/src/store': STORE_ABOVE,
  },
  'operations imports only protocol and log, json, search, intake, feed, presence.': {
    'gateway/src/operations': ABOVE,
  },
  'http imports only protocol.': {
    'gateway/src/http': [
      '../doors/rest/rest.ts',
      '../operations/contribution/append.ts',
      '../gateway.ts',
      '../store/store.ts',
    ],
  },
  'doors imports only protocol and log, json, search, intake, feed, presence, operations, http.': {
    'gateway/src/doors/rest': ['../../gateway.ts', '../../store/store.ts'],
  },
  'doors never import each other.': {
    'gateway/src/doors/a2a': ['../mcp/mcp.ts'],
    'gateway/src/doors/docs': ['../rest/rest.ts'],
    'gateway/src/doors/feeds': ['../rest/rest.ts'],
    'gateway/src/doors/mcp': ['../rest/rest.ts'],
    'gateway/src/doors/rest': ['../mcp/mcp.ts'],
    'gateway/src/doors/web': ['../rest/rest.ts'],
  },
  'Only the web door imports the pages.': {
    'gateway/src/doors/rest': ['@open-presence/web/renderer'],
  },
  'control imports only protocol and json, presence, operations, http.': {
    'gateway/src/control': ['../store/store.ts'],
  },
};

/** What a file in these folders may import. */
const RIGHT: Readonly<Record<string, readonly string[]>> = {
  'protocol/src': ['./entry.ts'],
  'client/src': ['@open-presence/protocol'],
  'web/src': ['@open-presence/protocol'],
  'cluster/src': ['@open-presence/gateway/replica', '@open-presence/protocol'],
  'gateway/src/log': ['@open-presence/protocol'],
  'gateway/src/json': ['../log/log.ts'],
  'gateway/src/search': ['../json/scanner.ts'],
  'gateway/src/intake': ['../search/tokenizer.ts'],
  'gateway/src/feed': ['../log/log.ts'],
  'gateway/src/presence': ['../log/log.ts'],
  'gateway/src/store': ['../../search/tokenizer.ts'],
  'gateway/src/operations': ['../presence/presence.ts'],
  'gateway/src/http': ['../fair-turns.ts'],
  'gateway/src/doors/mcp': ['../context.ts'],
  'gateway/src/doors/rest': ['../../http/router.ts'],
  'gateway/src/doors/web': ['@open-presence/web/renderer'],
};

/** The linter's own text for its rule against import cycles. */
const CYCLE = 'Dependency cycle detected';
const PROCESS = 'Only packages/cli/src/main.ts knows the process.';

/** What else a file may say, by its path: the rule that is broken, if one is. */
const OTHERS: readonly (readonly [path: string, text: string, broken?: string])[] = [
  ['cli/src/main.ts', 'export const b = process.argv;'],
  ['cli/src/other.ts', 'export const b = process.argv;', PROCESS],
  ['gateway/src/environment.ts', 'export const b = process.env;', PROCESS],
  ['gateway/src/global.ts', 'export const b = globalThis.process;', PROCESS],
  ['gateway/src/gateway.ts', "import { a } from './store/store.ts';\nexport const b = a;"],
  ['gateway/src/routes.ts', "import { a } from './doors/rest/rest.ts';\nexport const b = a;"],
  [
    'gateway/src/loaded.ts',
    "export const b = (): Promise<unknown> => import('@open-presence/cluster');",
    'The gateway imports no package of ours but protocol and web.',
  ],
  [
    'gateway/src/log/loaded.ts',
    "export const b = (): Promise<unknown> => import('../store/store.ts');",
    'log imports only protocol.',
  ],
  [
    'gateway/src/log/exported.ts',
    "export { a } from '../store/store.ts';",
    'log imports only protocol.',
  ],
  [
    'gateway/src/log/typed.ts',
    "import type { A } from '../store/store.ts';\nexport type B = A;",
    'log imports only protocol.',
  ],
  ['gateway/src/json/a.ts', "import type { B } from './b.ts';\nexport type A = { b: B };", CYCLE],
  ['gateway/src/json/b.ts', "import type { A } from './a.ts';\nexport type B = { a: A };", CYCLE],
];

interface Case {
  readonly name: string;
  /** Below `packages`. */
  readonly path: string;
  readonly text: string;
  readonly broken: string | undefined;
}

const cases: readonly Case[] = [
  ...Object.entries(BROKEN).flatMap(([broken, folders]) => importing(folders, broken)),
  ...importing(RIGHT),
  ...OTHERS.map(([path, text, broken]) => ({ name: path, path, text, broken })),
];
const folder = await dataFolder();
const findings = lint();

suite('the dependency rules', () => {
  after(() => folder[Symbol.asyncDispose]());

  for (const { name, path, broken } of cases) {
    test(`${name} breaks ${broken ?? 'no rule'}`, () => {
      const wanted = broken === undefined ? [] : [broken];
      assert.deepEqual(findings.get(join('packages', path)) ?? [], wanted);
    });
  }

  test('each is broken by a file', () => {
    const texts = JSON.stringify(config.overrides).matchAll(/"message":"([^"]+)"/g);
    const stated = new Set([...texts].map(([, text]) => text)).add(CYCLE);
    assert.deepEqual(new Set([...findings.values()].flat()), stated);
  });
});

function importing(folders: Readonly<Record<string, readonly string[]>>, broken?: string): Case[] {
  return Object.entries(folders).flatMap(([inFolder, specifiers]) =>
    specifiers.map((specifier) => ({
      name: `${inFolder} with ${specifier}`,
      path: join(inFolder, `${specifier.replaceAll(/\W/g, '-')}.ts`),
      text: `import { a } from '${specifier}';\nexport const b = a;`,
      broken,
    })),
  );
}

/** What the installed linter says of every file: the texts of the rules broken, by path. */
function lint(): Map<string, string[]> {
  for (const { path, text } of cases) {
    const file = join(folder.path, 'packages', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${text}\n`);
  }
  const run = spawnSync(
    process.execPath,
    [
      join(ROOT, 'test/node_modules/.bin/oxlint'),
      '--format=json',
      `--config=${join(ROOT, 'oxlint.config.ts')}`,
    ],
    { cwd: folder.path, encoding: 'utf8' },
  );
  const report = JSON.parse(run.stdout) as {
    diagnostics: { filename: string; code: string; help?: string; message: string }[];
  };
  const byFile = new Map<string, string[]>();
  for (const { filename, code, help, message } of report.diagnostics) {
    const text =
      code === 'eslint(no-restricted-imports)' && help !== undefined
        ? help
        : message.replace("Unexpected use of 'process'. ", '');
    byFile.set(filename, [...(byFile.get(filename) ?? []), text]);
  }
  return byFile;
}
