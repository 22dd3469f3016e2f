import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const COMMAND = join(import.meta.dirname, '../presence.js');
/** Runs a command whose reader leaves at once, and prints its exit code. */
const READER_LEAVES = 'exec 3>&1; { "$@"; echo $? >&3; } | true';

for (const args of [['--help'], ['config']])
  test(`presence ${args.join(' ')} does not fail when its reader leaves`, async () => {
    const command = [process.execPath, COMMAND, ...args];
    const shell = ['-c', READER_LEAVES, 'sh', ...command];
    const { stdout, stderr } = await promisify(execFile)('sh', shell);
    assert.deepEqual([stdout, stderr], ['0\n', '']);
  });

for (const args of [['--help'], ['config']])
  test(`presence ${args.join(' ')} fails when its output cannot be written`, async () => {
    const command = [process.execPath, COMMAND, ...args];
    const shell = ['-c', '"$@" > /dev/full; echo $?', 'sh', ...command];
    const { stdout, stderr } = await promisify(execFile)('sh', shell);
    assert.equal(stdout, '2\n');
    assert.match(stderr, /^Cannot write the output: ENOSPC: .*\n$/);
  });

test('a user without a home folder can run commands', async () => {
  const homeless = `import os from 'node:os';
    import { syncBuiltinESMExports } from 'node:module';
    os.homedir = () => { throw new Error('no home'); };
    syncBuiltinESMExports();`;
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(homeless)}` };
  const args = [COMMAND, 'config', '--port', '7411'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  assert.match(stdout, /^Listens on 127\.0\.0\.1:7411$/m);
});
