// The package's preinst: a log that is newer than the version keeps its reader.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { ROOT } from '../packages/packed.ts';
import { dataFolder } from '../gateway-process.ts';

test('the package refuses a folder whose log has a newer format, and says how to go on', async () => {
  await using folder = await dataFolder();
  const at = (name: string): string => join(folder.path, name);
  const script = await readFile(join(ROOT, 'deploy/debian/preinst'), 'utf8');
  await writeFile(at('presence.env'), `#PRESENCE_DATA=/nowhere\nPRESENCE_DATA=${at('data')}\n`);
  const accepts = async (format: number, action: string): Promise<void> => {
    const text = script
      .replaceAll('@FORMAT@', String(format))
      .replace('/etc/presence/presence.env', at('presence.env'));
    const { stderr } = await promisify(execFile)('sh', ['-c', text, 'preinst', action, '0.2.0-1']);
    assert.equal(stderr, '');
  };
  await accepts(2, 'install');
  await mkdir(at('data'));
  using log = new DatabaseSync(at('data/log.sqlite'));
  log.exec('CREATE TABLE entries (seq)');
  await accepts(2, 'upgrade');
  log.exec('PRAGMA user_version = 2');
  await accepts(2, 'upgrade');
  await accepts(3, 'upgrade');
  await accepts(1, 'abort-upgrade');
  await assert.rejects(accepts(1, 'upgrade'), (error: Error) => {
    assert.match(error.message, /has format 2\. This version reads formats up to 1/);
    assert.ok(error.message.includes(`presence export --data ${at('data')} `));
    return true;
  });
});
