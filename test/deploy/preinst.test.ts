// The package's preinst: a backup before the format of the log changes.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { ROOT } from '../packages/packed.ts';
import { dataFolder } from '../gateway-process.ts';

test('an upgrade makes a backup where the format of the log changes, and ends where it cannot', async () => {
  await using folder = await dataFolder();
  const at = (name: string): string => join(folder.path, name);
  const script = await readFile(join(ROOT, 'deploy/debian/preinst'), 'utf8');
  await mkdir(at('bin'));
  await mkdir(at('data'));
  await writeFile(at('presence.env'), `#PRESENCE_DATA=/nowhere\nPRESENCE_DATA=${at('data')}\n`);
  using log = new DatabaseSync(at('data/log.sqlite'));
  log.exec('CREATE TABLE entries (seq); PRAGMA user_version = 1');
  const program = async (name: string, text: string): Promise<void> => {
    await writeFile(at(`bin/${name}`), `#!/bin/sh\n${text}\n`);
    await chmod(at(`bin/${name}`), 0o755);
  };
  await program('install', `mkdir -p ${at('backup')}`);
  await program('runuser', 'shift 3; exec "$@"');
  const upgrade = async (format: number, action = 'upgrade'): Promise<string> => {
    const text = script
      .replace('@FORMAT@', String(format))
      .replace('/etc/presence/presence.env', at('presence.env'));
    const env = { PATH: `${at('bin')}:${process.env['PATH'] ?? ''}` };
    const args = ['-c', text, 'preinst', action, '0.2.0-1'];
    return (await promisify(execFile)('sh', args, { env })).stdout;
  };
  await program('presence', 'echo "ran $*"');
  assert.equal(await upgrade(1), '');
  assert.equal(await upgrade(2, 'install'), '');
  const said = await upgrade(2);
  assert.match(
    said,
    /format of the log changes\. Making a backup in \/var\/backups\/open-presence-0\.2\.0-1/,
  );
  assert.ok(said.includes(`ran backup /var/backups/open-presence-0.2.0-1 --data ${at('data')}\n`));
  await program('presence', 'exit 1');
  await assert.rejects(upgrade(2));
});
