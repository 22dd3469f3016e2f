/**
 * `npm run try:packages`, some minutes: installs the packed packages into empty projects. Serves with the
 * installed command on each Node.js that it is for, for the conformance suite, and visits that gateway
 * with the installed client in Node.js from 20 on, Deno, Bun, workerd, Chromium and a web worker.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';

import { build } from 'vite';

import { startChromium } from '../test/browser/chromium.ts';
import { startGatewayProcess } from '../test/gateway-process.ts';
import { install, packAll, ROOT, run } from '../test/packages/packed.ts';

const NODES = ['24', '26'];
/** Those that the client is for as well. */
const OLDER_NODES = ['20', '22'];

/** Resolves with what it has found: `true true true`. */
const VISIT = `
import { Gateway, PresenceError } from '@open-presence/client';

export async function visit(address) {
  const gateway = new Gateway(address, { identity: 'Installed' });
  const text = 'З пакета. '.repeat(20_000);
  const { id, seq } = await gateway.leaveTrace({ text: new Blob([text]) });
  const followed = [];
  for await (const entry of gateway.follow({ after: seq - 1, limit: 1 })) followed.push(entry.id);
  const listed = [];
  for await (const entry of gateway.entries({ limit: 1 })) listed.push(entry.text);
  const refused = await gateway.leaveTrace({ text: 7 }).catch((error) => error);
  return [followed[0] === id, listed[0] === text, refused instanceof PresenceError].join(' ');
}
`;
const PROGRAM = `
import { visit } from './visit.js';
const [address] = globalThis.Deno?.args ?? process.argv.slice(2);
console.log(await visit(address));
`;

/** In a page that has the bundled visit beside it. */
const IN_WORKER = `new Promise((resolve) => {
  const visit = "import('" + location.origin + "/bundle.js').then(({ visit }) => visit('URL')).then(postMessage)";
  new Worker(window.URL.createObjectURL(new Blob([visit]))).onmessage = ({ data }) => resolve(data);
})`;
const MINIFLARE = '4';
/** Visits by Cloudflare's runtime: `node workerd.js PROJECT GATEWAY`. */
const WORKERD = `
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [project, address] = process.argv.slice(2);
const { Miniflare } = createRequire(join(project, 'package.json'))('miniflare');
const visit = await readFile(join(project, 'bundle.js'), 'utf8');
const script = \`\${visit}\\nexport default { fetch: async () => new Response(await visit('\${address}')) };\`;
const workerd = new Miniflare({ modules: true, script, compatibilityDate: '2026-01-01' });
console.log(await (await workerd.dispatchFetch('http://localhost/')).text());
await workerd.dispose();
`;

class Missing extends Error {}

const folder = await mkdtemp(join(tmpdir(), 'presence-packages-'));
try {
  const packed = await needed('packages that can be built', packAll(join(folder, 'built')));
  const visitor = join(folder, 'visitor');
  const keeper = join(folder, 'keeper');
  const ofClient = packed.filter(({ name }) => ['client', 'protocol'].includes(name));
  await install(visitor, ...ofClient.map(({ tarball }) => tarball));
  await install(keeper, ...packed.map(({ tarball }) => tarball));
  await writeFile(join(visitor, 'visit.js'), VISIT);
  await writeFile(join(visitor, 'program.js'), PROGRAM);
  for (const { name, size, unpackedSize } of packed)
    console.log(`${name}: ${size} bytes, unpacked ${unpackedSize}`);
  const { stdout } = await run('du', [
    '-s',
    '--apparent-size',
    '-B1',
    join(keeper, 'node_modules'),
  ]);
  console.log(`the command with all it needs: ${stdout.split('\t')[0]} bytes`);
  for (const version of NODES) await tryNode(version, keeper, visitor);
  await tryOlderNodes(visitor);
  await tryOthers(visitor);
} catch (error) {
  if (!(error instanceof Missing)) throw error;
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true });
}

/** From the package that the install script of `node` would bring: no install script has to be allowed. */
async function pathOfNode(version: string): Promise<string> {
  const project = join(folder, `node-${version}`);
  const name = `node-${process.platform}-${process.arch}`;
  await needed(`${name}@${version} from npm`, install(project, `${name}@${version}`));
  const node = join(project, 'node_modules', name, 'bin/node');
  assert.match((await run(node, ['--version'])).stdout, new RegExp(`^v${version}\\.`));
  return node;
}

/** Says in one line what is needed where it is missing. */
async function needed<Value>(what: string, bringing: Promise<Value>): Promise<Value> {
  try {
    return await bringing;
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? error.stderr : error;
    const [reason = ''] = String(said).trim().split('\n', 1);
    throw new Missing(`try:packages needs ${what}: ${reason}`);
  }
}

async function tryOlderNodes(visitor: string): Promise<void> {
  await using gateway = await startGatewayProcess();
  for (const version of OLDER_NODES) {
    const node = await pathOfNode(version);
    await visitWith(`Node.js ${version}`, [node, 'program.js', gateway.url], visitor);
  }
}

/** The command with `npx`, as npm installs it, on one version of Node.js. */
async function tryNode(version: string, keeper: string, visitor: string): Promise<void> {
  const node = await pathOfNode(version);
  const command = join(keeper, 'node_modules/.bin/presence');
  await using gateway = await startGatewayProcess({ node, command });
  const about = `Node.js ${(await run(node, ['--version'])).stdout.trim()}`;
  await visitWith(about, [node, 'program.js', gateway.url], visitor);
  const suite = spawn(process.execPath, [join(ROOT, 'conformance/main.ts'), gateway.url], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const closed: readonly unknown[] = await once(suite, 'close');
  assert.equal(closed[0], 0, `${about} serves: the conformance suite fails`);
  console.log(`${about}: serves, and conforms`);
}

async function tryOthers(visitor: string): Promise<void> {
  await using gateway = await startGatewayProcess();
  const { url } = gateway;
  const exec = ['npm', 'exec', '--yes'];
  const deno = [...exec, '--package=deno@2.9.6', '--', 'deno'];
  await needed('deno from npm', run('npm', [...deno.slice(1), '--version'], { cwd: visitor }));
  const denoRun = [...deno, 'run', '--allow-net', '--node-modules-dir=manual'];
  await visitWith('Deno', [...denoRun, 'program.js', url], visitor);
  const bun = [...exec, '--package=bun@1.4.5', '--', 'bun'];
  await needed('bun from npm', run('npm', [...bun.slice(1), '--version'], { cwd: visitor }));
  await visitWith('Bun', [...bun, 'program.js', url], visitor);
  // Of its own: what is installed in a project takes the place of what was there.
  const worker = join(folder, 'workerd');
  await needed('miniflare from npm', install(worker, `miniflare@${MINIFLARE}`));
  const bundle = await bundled(visitor);
  for (const project of [visitor, worker]) await writeFile(join(project, 'bundle.js'), bundle);
  await writeFile(join(worker, 'workerd.js'), WORKERD);
  await visitWith('workerd', [process.execPath, 'workerd.js', worker, url], worker);
  const server = await serveFiles(visitor);
  const browser = await needed('Chromium (CONTRIBUTING.md: npm run test:install)', startChromium());
  try {
    const page = await browser.newPage();
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    await page.goto(`http://127.0.0.1:${address.port}/`);
    const found = await page.evaluate(`import('/visit.js').then(({ visit }) => visit('${url}'))`);
    report('Chromium', String(found));
    report('a web worker in Chromium', String(await page.evaluate(IN_WORKER.replace('URL', url))));
  } finally {
    await browser.close();
    server.close();
  }
}

/** The visiting module with all that it imports and its own names, for where there are no packages. */
async function bundled(visitor: string): Promise<string> {
  const lib = { entry: join(visitor, 'visit.js'), formats: ['es' as const] };
  const options = {
    root: visitor,
    logLevel: 'silent',
    build: { write: false, minify: false, lib },
  } as const;
  const built = [await build(options)].flat().flatMap((one) => ('output' in one ? one.output : []));
  return built.map((file) => ('code' in file ? file.code : '')).join('');
}

async function visitWith(
  name: string,
  [program = '', ...args]: readonly string[],
  cwd: string,
): Promise<void> {
  report(name, (await run(program, args, { cwd })).stdout.trim());
}

function report(name: string, found: string): void {
  assert.equal(found, 'true true true', name);
  console.log(`${name}: the client visits`);
}

/** A page with an import map, and the files of the project. */
async function serveFiles(project: string): Promise<Server> {
  const modules = '/node_modules';
  const imports = {
    '@open-presence/client': `${modules}/@open-presence/client/src/index.js`,
    '@open-presence/protocol': `${modules}/@open-presence/protocol/src/index.js`,
  };
  const page = `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>`;
  const server = createServer(({ url = '/' }, response) => {
    const type = extname(url) === '.js' ? 'text/javascript' : 'text/html';
    const send = (body: string | Buffer): void => {
      response.writeHead(200, { 'Content-Type': type }).end(body);
    };
    if (url === '/') send(page);
    else readFile(join(project, url)).then(send, () => void response.writeHead(404).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
