// The files of `deploy/cluster/` make servers that a gateway takes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { until } from '../../conformance/until.ts';
import { checkServers } from '../../packages/cluster/src/stream/check-servers.ts';
import { dataFolder } from '../gateway-process.ts';
import { findNatsServer } from './nats-servers.ts';
import { needs } from '../needs.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy/cluster');

test(
  'a server with the configuration for three machines passes the checks of a gateway',
  needs('nats-server'),
  async () => {
    await using folder = await dataFolder();
    const file = join(folder.path, 'nats.conf');
    await cp(join(DEPLOY, 'nats.conf'), file);
    const host = `127.${randomInt(1, 255)}.${randomInt(0, 255)}.${randomInt(1, 255)}`;
    const env = { NODE: 'node-1.example', ADDRESS: host, STORE: join(folder.path, 'store') };
    const server = spawn(await findNatsServer(), ['--config', file], { env, stdio: 'ignore' });
    const ended = once(server, 'exit');
    try {
      // Nothing listens at the addresses of the other two.
      const others = [`${host}:1`, `${host}:2`];
      const unreachable = await until(
        () => checkServers([`${host}:4222`, ...others]),
        ({ length }) => length === 2,
        (found) => `The server does not answer: ${found.join()}`,
      );
      assert.deepEqual(unreachable, others);
    } finally {
      server.kill('SIGKILL');
      await ended;
    }
  },
);

test('machines, containers and units name the same servers and settings', async () => {
  const [conf, compose, unit] = await Promise.all(
    ['nats.conf', 'compose.yaml', 'nats-server.service.d-presence.conf'].map((name) =>
      readFile(join(DEPLOY, name), 'utf8'),
    ),
  );
  for (const node of ['node1', 'node2', 'node3']) {
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
