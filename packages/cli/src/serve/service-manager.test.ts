import assert from 'node:assert/strict';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { until } from '../../../../conformance/until.ts';
import {
  type DataFolder,
  dataFolder,
  startGatewayProcess,
} from '../../../../test/gateway-process.ts';

const WATCHDOG_MS = 300;
/** Keeps a serving thread busy for ever once this file is there. */
const stuckBy = (file: string): string => `import { existsSync } from 'node:fs';
  import { isMainThread, workerData } from 'node:worker_threads';
  const look = () => { while (existsSync('${file}')); };
  if (!isMainThread && workerData?.listen) setInterval(look, 20);`;

/** A `systemd-notify` that writes down what it was told. */
async function notified(folder: DataFolder): Promise<{
  readonly env: Record<string, string>;
  readonly told: () => Promise<string[]>;
}> {
  const file = join(folder.path, 'told');
  const program = join(folder.path, 'systemd-notify');
  await writeFile(file, '');
  await writeFile(program, `#!/bin/sh\necho "$@" >>${file}\n`);
  await chmod(program, 0o755);
  return {
    env: {
      PATH: `${folder.path}:${process.env['PATH']}`,
      NOTIFY_SOCKET: '/nowhere',
      WATCHDOG_USEC: String(WATCHDOG_MS * 1000),
    },
    told: async () => (await readFile(file, 'utf8')).trim().split('\n'),
  };
}

suite('systemd', () => {
  const args = ['--threads', '2'];

  test('is told that the gateway is ready, and regularly that its threads have turns', async () => {
    await using folder = await dataFolder();
    const { env, told } = await notified(folder);
    await using _gateway = await startGatewayProcess({ args, env });
    const lines = await until(told, ({ length }) => length > 3, String);
    assert.deepEqual(lines.slice(0, 4), ['--ready', 'WATCHDOG=1', 'WATCHDOG=1', 'WATCHDOG=1']);
  });

  test('is told nothing more once a serving thread is stuck', async () => {
    await using folder = await dataFolder();
    const { env, told } = await notified(folder);
    const file = join(folder.path, 'stuck');
    const stuck = `--import=data:text/javascript,${encodeURIComponent(stuckBy(file))}`;
    await using _gateway = await startGatewayProcess({
      args,
      env: { ...env, NODE_OPTIONS: stuck },
    });
    await until(told, (lines) => lines.includes('WATCHDOG=1'), String);
    await writeFile(file, '');
    let last = -1;
    for (let count = (await told()).length; count !== last; count = (await told()).length) {
      last = count;
      await pause(4 * WATCHDOG_MS);
    }
  });
});

test('only their owner can read stored files', async () => {
  await using folder = await dataFolder();
  const data = join(folder.path, 'data');
  await using _gateway = await startGatewayProcess({ data });
  assert.equal((await stat(data)).mode & 0o777, 0o700);
  for (const name of ['log.sqlite', 'last-commit'])
    assert.equal((await stat(join(data, name))).mode & 0o777, 0o600, name);
});
