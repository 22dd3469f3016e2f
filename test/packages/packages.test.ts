// The packages, packed and installed into empty projects. More by hand: `npm run check:packages`, which
// `.ci/run` runs too, and `npm run try:packages`.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';

import { asArray, asObject } from '../../conformance/value.ts';
import { billOfMaterials, licenceOf } from '../../scripts/bill-of-materials.ts';
import { clientReference } from '../../scripts/client-reference.ts';
import {
  type DataFolder,
  dataFolder,
  type GatewayProcess,
  startGatewayProcess,
} from '../gateway-process.ts';
import { needs } from '../needs.ts';
import { install, PACKAGES, packAll, type Packed, ROOT, run } from './packed.ts';

const ALLOWED = [
  'MIT',
  'ISC',
  'BlueOak-1.0.0',
  'Unlicense',
  'Apache-2.0',
  'BSD-3-Clause',
  '(MIT OR CC0-1.0)',
  'OFL-1.1',
];

const VISITOR_ON_OLDER = `
import { Gateway } from '@open-presence/client';
const gateway = new Gateway('ADDRESS', { identity: 'Older' });
await gateway.leaveTrace('here');
for await (const { kind } of gateway.follow({ after: 0, kind: 'garden', limit: 1 })) console.log(kind);
`;

let folder: DataFolder;
let packed: Packed[];
let gateway: GatewayProcess;
/** A project that has the client alone, and one that has all packages. */
let visitor: string;
let keeper: string;
let command: string;

before(async () => {
  folder = await dataFolder();
  packed = await packAll(join(folder.path, 'built'));
  visitor = join(folder.path, 'visitor');
  keeper = join(folder.path, 'keeper');
  const tarballs = packed.map(({ tarball }) => tarball);
  const ofClient = packed.filter(({ name }) => ['client', 'protocol'].includes(name));
  await install(visitor, ...ofClient.map(({ tarball }) => tarball));
  await install(keeper, ...tarballs);
  command = join(keeper, 'node_modules/@open-presence/cli/presence.js');
  gateway = await startGatewayProcess({ command, args: ['--threads', '2'] });
});
after(async () => {
  await gateway[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

suite('a package', () => {
  for (const name of PACKAGES) {
    test(`${name} has what it needs, and nothing else`, async () => {
      const files = packed.find((one) => one.name === name)?.files ?? [];
      for (const needed of ['package.json', 'README.md', 'LICENSE'])
        assert.ok(files.includes(needed));
      const strange = files.filter((file) => /\.(?:test|fixture)\.|(?<!\.d)\.tsx?$/.test(file));
      assert.deepEqual(strange, []);
    });
  }

  test('of the protocol has the contract, the language and the OpenAPI document', async () => {
    const at = join(visitor, 'node_modules/@open-presence/protocol');
    for (const [file, source] of [
      ['PROTOCOL.md', 'PROTOCOL.md'],
      ['mova-snu.yaml', 'packages/protocol/mova-snu.yaml'],
      ['openapi.yaml', 'packages/protocol/openapi.yaml'],
    ] as const)
      assert.equal(
        await readFile(join(at, file), 'utf8'),
        await readFile(join(ROOT, source), 'utf8'),
      );
  });

  test('consists of parts that may be passed on', needs('npm 10.2 or later'), async () => {
    const { components } = await billOfMaterials(keeper);
    const licences = asArray(components).map(licenceOf);
    assert.ok(licences.length > 50);
    assert.deepEqual(
      licences.filter((licence) => !ALLOWED.includes(licence)),
      [],
    );
  });

  test('brings no Node.js', async () => {
    assert.ok(!(await readdir(join(keeper, 'node_modules'))).includes('node'));
  });
});

const VISITOR = `
import { type Entry, Gateway, PresenceError } from '@open-presence/client';
import { KINDS, type Kind } from '@open-presence/protocol';

const gateway = new Gateway(process.argv[2] ?? '', { identity: 'Installed' });
const kind: Kind | undefined = KINDS[1];
const { id } = await gateway.leaveTrace('From a package.');
const found: Entry[] = [];
for await (const entry of gateway.entries({ kind, limit: 1 })) found.push(entry);
// @ts-expect-error Entries have numeric seqs.
const seq: string | undefined = found[0]?.seq;
const refused = await gateway.leaveTrace({ text: 7 }).catch((error: unknown) => error);
console.log(JSON.stringify([id === found[0]?.id, refused instanceof PresenceError, seq !== '']));
`;

const KEEPER = `
import { startGateway, type Gateway } from '@open-presence/gateway';
import { JsonScanner } from '@open-presence/gateway/json';
import { openTemporaryFile } from '@open-presence/gateway/temporary-file';
import type { PageData } from '@open-presence/web/page-data';
import { renderPage } from '@open-presence/web/renderer';
`;

test('docs/client.md is what the types say: npm run build && node scripts/client-reference.ts', async () => {
  const page = await readFile(join(ROOT, 'docs/client.md'), 'utf8');
  assert.equal(page, await clientReference(join(folder.path, 'built')));
});

suite('types', () => {
  for (const [module, moduleResolution] of [
    ['node16', 'node16'],
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ] as const) {
    test(`resolve under ${moduleResolution}`, async () => {
      await writeFile(join(keeper, 'visitor.ts'), VISITOR);
      await writeFile(join(keeper, 'keeper.ts'), KEEPER);
      await writeFile(join(keeper, 'tsconfig.json'), configuration({ module, moduleResolution }));
      await run(join(ROOT, 'test/node_modules/.bin/tsc'), ['-p', keeper]).catch(
        (error: unknown) => {
          assert.fail(String(asObject(error)['stdout']));
        },
      );
    });
  }
});

function configuration(options: object): string {
  const typeRoots = [join(ROOT, 'node_modules/@types')];
  const target = { target: 'esnext', lib: ['esnext', 'dom'], noEmit: true, skipLibCheck: true };
  const compilerOptions = { ...target, strict: true, types: ['node'], typeRoots, ...options };
  return JSON.stringify({ compilerOptions, include: ['*.ts'] });
}

suite('what is installed', () => {
  test('visits a gateway', async () => {
    await writeFile(join(visitor, 'program.ts'), VISITOR);
    const args = [join(visitor, 'program.ts'), gateway.url];
    const { stdout } = await run(process.execPath, args);
    assert.equal(stdout, '[true,true,true]\n');
  });

  const older = '/usr/bin/node';
  const hasOlder = existsSync(older) && !process.execPath.startsWith(older);
  const skip = !hasOlder && 'needs another Node.js at /usr/bin/node';
  test('visits it on the Node.js of the machine', { skip }, async () => {
    const source = VISITOR_ON_OLDER.replace('ADDRESS', gateway.url);
    const { stdout } = await run(older, ['--input-type=module', '-e', source], { cwd: visitor });
    assert.equal(stdout, 'garden\n');
  });

  test('serves everything that the gateway reads from files', async () => {
    const page = await (await fetch(gateway.url, { headers: { accept: 'text/html' } })).text();
    const [asset = ''] = /\/web\/assets\/[^"]+\.js/.exec(page) ?? [];
    for (const path of ['/mova-snu.yaml', '/protocol.md', '/skill.md', '/openapi.json', asset]) {
      const { status } = await fetch(gateway.url + path);
      assert.equal(status, 200, path);
    }
    const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const tools = await fetch(`${gateway.url}/mcp`, { method: 'POST', body, headers });
    assert.match(await tools.text(), /"inputSchema"/);
  });

  test('becomes one of a cluster with the package for that, and says without it what to install', async () => {
    const refusal = async (subcommand: string): Promise<string> => {
      const data = join(folder.path, 'copy');
      const args = [command, subcommand, '--port', '0', '--data', data];
      const running = run(process.execPath, [...args, '--log', 'nats://127.0.0.1:1']);
      const { code, stdout, stderr } = await running.catch(asObject).then(asObject);
      assert.equal(code, 1);
      return `${String(stdout)}${String(stderr)}`;
    };
    const cluster = join(keeper, 'node_modules/@open-presence/cluster');
    assert.match(await refusal('serve'), /None of the NATS servers can be reached/);
    await rename(cluster, join(folder.path, 'cluster'));
    for (const subcommand of ['serve', 'doctor'])
      assert.match(await refusal(subcommand), /run "npm install @open-presence\/cluster"/);
    await rename(join(folder.path, 'cluster'), cluster);
  });

  test('is run by npx, and says what it is', async () => {
    const { stdout } = await run('npx', ['--no-install', 'presence', '--version'], { cwd: keeper });
    assert.equal(stdout, '0.2.0\n');
    const linked = join(folder.path, 'presence');
    await symlink(command, linked);
    const rooms = await run(process.execPath, [linked, 'rooms', '--url', gateway.url]);
    assert.match(rooms.stdout, /"slug":"welcome-space"/);
  });
});
