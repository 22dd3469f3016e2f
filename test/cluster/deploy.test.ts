// The files of `deploy/cluster/` make a cluster: three servers and three gateways, as on three machines.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { until } from '../../conformance/until.ts';
import { dataFolder, type GatewayProcess, startGatewayProcess } from '../gateway-process.ts';
import { needs } from '../needs.ts';
import { post } from './members.ts';
import { findNatsServer } from './nats-servers.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy/cluster');
const NODES = ['node1', 'node2', 'node3'];

/** With the names of the three machines. */
const WITH_HOSTS = 'mount --bind "$1" /etc/hosts; shift; exec "$@"';

test(
  'three machines that are set up by these files form a cluster, and let nobody else in',
  needs('nats-server', 'openssl', 'to mount a disk'),
  async () => {
    await using folder = await dataFolder();
    await using owned = new AsyncDisposableStack();
    const at = (name: string): string => join(folder.path, name);
    const hosts = NODES.map(
      () => `127.${randomInt(1, 255)}.${randomInt(255)}.${randomInt(1, 255)}`,
    );
    await writeFile(at('hosts'), hosts.map((host, index) => `${host} ${NODES[index]}\n`).join(''));
    for (const authority of ['own', 'foreign'])
      await promisify(execFile)(join(DEPLOY, 'certificates.sh'), [at(authority), ...NODES]);
    const own = ['--mount', 'sh', '-c', WITH_HOSTS, 'sh', at('hosts')];
    const under = ['unshare', ...own];
    const program = await findNatsServer();
    const shipped = await readFile(join(DEPLOY, 'nats.conf'), 'utf8');
    for (const [index, node] of NODES.entries()) {
      const file = at(`${node}.conf`);
      await writeFile(file, shipped.replaceAll('/etc/nats', at(`own/${node}`)));
      const env = { ...process.env, NODE: node, ADDRESS: hosts[index], STORE: at(`store-${node}`) };
      const args = [...own, program, '--config', file];
      const server = spawn('unshare', args, { env, stdio: 'ignore' });
      owned.defer(async () => {
        server.kill('SIGKILL');
        if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
      });
    }
    const compose = await readFile(join(DEPLOY, 'compose.yaml'), 'utf8');
    const [, log = ''] = /PRESENCE_LOG: (\S+)/.exec(compose) ?? [];
    const start = async (node: string, authority = 'own'): Promise<GatewayProcess> => {
      const files = at(`${authority}/${node}`);
      const args = ['--log', log.replaceAll('/etc/nats', files)];
      return await startGatewayProcess({ under, args });
    };
    const gateways = await Promise.all(NODES.map(async (node) => owned.use(await start(node))));
    const { status } = await post(gateways[0]?.url ?? '', 'on all machines', 'key');
    assert.equal(status, 201);
    await until(
      async () => await (await fetch(`${gateways[2]?.url}/api/shepit`)).text(),
      (text) => text.includes('on all machines'),
    );
    await assert.rejects(start('node1', 'foreign'), /certificate/);
  },
);

test('machines, containers and units name the same servers and settings', async () => {
  const [conf, compose, unit] = await Promise.all(
    ['nats.conf', 'compose.yaml', 'nats-server.service.d-presence.conf'].map((name) =>
      readFile(join(DEPLOY, name), 'utf8'),
    ),
  );
  for (const node of NODES) {
    assert.match(conf ?? '', new RegExp(`nats://${node}:6222`));
    assert.match(compose ?? '', new RegExp(`PRESENCE_LOG:.*${node}:4222`));
  }
  const variables = new Set([...(conf ?? '').matchAll(/\$([A-Z]+)/g)].map(([, name]) => name));
  for (const name of variables) {
    assert.match(compose ?? '', new RegExp(`^ +${name}: `, 'm'));
    assert.match(unit ?? '', new RegExp(`^Environment=${name}=`, 'm'));
  }
  assert.equal(variables.size, 3);
  assert.match(compose ?? '', /^ +GOMEMLIMIT: 512MiB$/m);
  assert.match(unit ?? '', /^Environment=GOMEMLIMIT=512MiB$/m);
});
