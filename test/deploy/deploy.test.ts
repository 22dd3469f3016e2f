// What is in `deploy/`. By hand: `deploy/debian/try.sh` and `deploy/container/try.sh` (CONTRIBUTING.md).
import assert from 'node:assert/strict';
import { cp, glob, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';

import { asObject } from '../../conformance/value.ts';
import { SETTINGS } from '../../packages/cli/src/configuration/configuration.ts';
import { COMMAND_LINK, DEPLOYED_FILES } from '../../scripts/debian-files.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { ROOT, run } from '../packages/packed.ts';
import { needs } from '../needs.ts';

const DEPLOY = join(ROOT, 'deploy');
const read = (...path: readonly string[]): Promise<string> =>
  readFile(join(DEPLOY, ...path), 'utf8');

suite('the systemd units', () => {
  test(
    'are understood by systemd, which finds little to protect better',
    needs('systemd-analyze'),
    async () => {
      await using folder = await dataFolder();
      const names = ['service', 'socket'].map((type) => `presence.${type}`);
      const backup = ['service', 'timer'].map((type) => `presence-backup.${type}`);
      const units = [...names, ...backup].map((unit) => join(folder.path, unit));
      await cp(join(DEPLOY, 'systemd'), folder.path, { recursive: true });
      // The command is not installed here.
      for (const unit of units) {
        const text = await readFile(unit, 'utf8');
        await writeFile(unit, text.replaceAll('/usr/bin/presence', process.execPath));
      }
      const { stdout, stderr } = await run('systemd-analyze', ['verify', ...units]);
      assert.equal(stdout + stderr, '');
      const [service = ''] = units;
      const exposure = ['security', '--offline=true', '--threshold=15', service];
      await run('systemd-analyze', exposure);
    },
  );

  test('serve on what systemd passes as standard input, which all threads share', async () => {
    const service = await read('systemd/presence.service');
    assert.match(service, /^ExecStart=\/usr\/bin\/presence serve --listen fd:0$/m);
    assert.match(service, /^StandardInput=socket$/m);
    assert.equal((await read('systemd/presence.socket')).match(/^ListenStream=/gm)?.length, 1);
  });
});

test('the file of settings has each variable once, and sets the folder alone, as unit and image do', async () => {
  const lines = (await read('presence.env')).split('\n');
  assert.deepEqual(
    lines.filter((line) => line !== '' && !line.startsWith('#')),
    ['PRESENCE_DATA=/var/lib/presence'],
  );
  const named = lines.flatMap((line) => /^#?([A-Z_]+)=/.exec(line)?.[1] ?? []);
  const told = SETTINGS.filter(({ isFormer }) => isFormer !== true);
  const variables = told.map(({ variable }) => variable);
  assert.deepEqual(named.toSorted(), variables.toSorted());
});

/** Where an administrator puts files, and what other packages have. */
const NOT_OF_THE_PACKAGE =
  /^\/(?:etc\/(?:hosts|nats|presence\/\w+\.(?:key|pem)|nats-server\.conf|systemd\/system|sysusers\.d)|usr\/sbin\/nats-server)(?:\/|$)/;

test('the Debian package has each file that the documents name in it', async () => {
  const files = [...Object.keys(DEPLOYED_FILES), COMMAND_LINK].map((path) => `/${path}`);
  const named = new Set<string>();
  for await (const name of glob('docs/*.md', { cwd: ROOT })) {
    const text = await readFile(join(ROOT, name), 'utf8');
    for (const [path] of text.matchAll(/(?<![\w./-])\/(?:etc|lib|opt|usr)\/[\w./-]*\w/g))
      named.add(path);
  }
  const missing = [...named].filter(
    (path) =>
      !NOT_OF_THE_PACKAGE.test(path) &&
      !files.some((file) => file === path || file.startsWith(`${path}/`)),
  );
  assert.deepEqual(missing, []);
  for (const source of Object.values(DEPLOYED_FILES)) await read(source);
});

test('the documents name no file of deploy/ that is not there or not in the package', async () => {
  const packaged = Object.values(DEPLOYED_FILES);
  const text = await readFile(join(ROOT, 'docs/operating.md'), 'utf8');
  const section = /^## Behind a proxy$[\s\S]*?^## /m.exec(text)?.[0] ?? '';
  for (const [, file = ''] of section.matchAll(/deploy\/([\w./-]*\w)/g))
    assert.ok(packaged.includes(file), file);
});

test('the image is built with the Node.js of the packages', async () => {
  const { dependencies } = asObject(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')));
  const node = String(asObject(dependencies)['node']);
  const dockerfile = await read('container/Dockerfile');
  assert.ok(dockerfile.includes(`FROM docker.io/library/node:${node}-`));
});

test('the health check of the image finds the gateway by each variable for its port', async () => {
  const command = /^HEALTHCHECK[^[]*CMD (.*)$/m.exec(await read('container/Dockerfile'))?.[1];
  const [, ...args] = JSON.parse(command ?? '[]') as string[];
  await using gateway = await startGatewayProcess();
  const { host, port } = new URL(gateway.url);
  for (const env of [{ PRESENCE_LISTEN: host, PRESENCE_PORT: '1' }, { PRESENCE_PORT: port }])
    await run(process.execPath, args, { env });
});

test(
  'the maintainer scripts are read by sh, and the launchd file is XML',
  needs('xmllint'),
  async () => {
    for (const script of ['preinst', 'postinst', 'prerm', 'postrm'])
      await run('sh', ['-n', join(DEPLOY, 'debian', script)]);
    const scripts = ['debian/try.sh', 'container/try.sh', 'container/base-images.sh'];
    for (const script of [...scripts, 'container/checks.sh'])
      await run('bash', ['-n', join(DEPLOY, script)]);
    await run('xmllint', ['--noout', '--nonet', join(DEPLOY, 'launchd/open-presence.plist')]);
  },
);
