// What was said in a withheld entry is in no backup that ends later, and in nothing restored from one.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';

import { backUpLog, type BackupReport } from '@open-presence/gateway';

import { Gateway, traceBody } from '../../conformance/gateway.ts';
import { filesWith } from '../files-with.ts';
import {
  type DataFolder,
  dataFolder,
  type GatewayProcess,
  startGatewayProcess,
} from '../gateway-process.ts';
import { run, withhold } from '../command.ts';
import { backUp, presence, restore } from './backup-folder.ts';

const WORD = 'quixotry';

suite('a backup after entries were withheld', () => {
  let folders: DataFolder;
  let data: string;
  let gateway: GatewayProcess;
  let visitor: Gateway;
  const folder = (name: string): string => join(folders.path, name);
  before(async () => {
    folders = await dataFolder();
    data = folder('data');
    gateway = await startGatewayProcess({ data, args: ['--threads', '1'] });
    visitor = new Gateway(gateway.url);
  });
  after(async () => {
    visitor[Symbol.dispose]();
    await gateway[Symbol.asyncDispose]();
    await folders[Symbol.asyncDispose]();
  });

  async function say(text: string): Promise<string> {
    return (await visitor.contribute('garden', traceBody('Lumen', { text }))).entry.id;
  }

  async function withholdOne(id: string): Promise<void> {
    const { code, stderr } = await withhold(data, id, '--reason', 'spam', '--yes');
    assert.equal(code, 0, stderr);
  }

  test('has nothing of what they said, and restores to a log that says when and why', async () => {
    const small = await say(`${WORD} small`);
    const large = await say(`${WORD} ${'large '.repeat(60_000)}`);
    await say('stays');
    const target = folder('backup');
    await backUp(data, target);
    assert.equal((await filesWith(target, WORD)).length, 2);
    await withholdOne(large);
    await withholdOne(small);
    const { report, faults } = await backUp(data, target);
    assert.deepEqual([faults, report.copied], [[], 0]);
    assert.deepEqual(await filesWith(target, WORD), []);
    assert.deepEqual(await filesWith(target, 'stays'), ['log.sqlite']);
    assert.deepEqual(await filesWith(target, 'spam'), ['log.sqlite']);
    const verified = await presence(['verify', target, '--json']);
    const { entries, withheld } = JSON.parse(verified.stdout) as Record<string, unknown>;
    assert.deepEqual([verified.code, entries, withheld], [0, 3, 2]);
    await restore(target, folder('restored'));
    assert.deepEqual(await filesWith(folder('restored'), WORD), []);
    await using restored = await startGatewayProcess({ data: folder('restored') });
    using reader = new Gateway(restored.url);
    const { json } = await reader.get('/api/withheld');
    assert.match(JSON.stringify(json), new RegExp(`${small}.*spam|spam.*${small}`));
  });

  test('keeps what is hidden hidden, and what is shown shown', async () => {
    const [small, large] = [await say('Hidden one'), await say('Hidden two '.repeat(60_000))];
    const target = folder('hiding');
    const served = async (): Promise<string> => {
      const { report } = await backUp(data, target);
      assert.equal(report.faults, 0);
      assert.equal((await presence(['verify', target])).code, 0);
      const name = folder(`restored-${Date.now()}`);
      await restore(target, name);
      await using restored = await startGatewayProcess({ data: name });
      const text = await (await fetch(`${restored.url}/api/garden`)).text();
      const back = await run('show', name, '--reason', 'An appeal', '--yes', '--json');
      assert.equal(back.code, 0, back.stderr);
      assert.match(await (await fetch(`${restored.url}/api/garden`)).text(), /Hidden one/);
      return text;
    };
    assert.match(await served(), /Hidden one/);
    const yes = ['--reason', 'Looked into', '--yes'];
    assert.equal((await run('hide', data, small, large, ...yes)).code, 0);
    assert.doesNotMatch(await served(), /Hidden/);
    assert.equal((await run('show', data, small, large, ...yes)).code, 0);
    const text = await served();
    assert.match(text, /Hidden one/);
    assert.match(text, /Hidden two/);
  });

  for (const size of ['small', 'large'] as const)
    test(`has nothing of a ${size} one that was withheld while it was made`, async () => {
      const id = await say(`${WORD} late ${'x'.repeat(size === 'large' ? 400_000 : 0)}`);
      const target = folder(`late-${size}`);
      const report = await backUpWith(target, () => withholdOne(id));
      assert.deepEqual(await filesWith(target, WORD), []);
      assert.equal(report.faults, 0);
      assert.equal((await presence(['verify', target])).code, 0);
    });

  /** `between`: called at each step, before the backup is complete. */
  async function backUpWith(target: string, between: () => Promise<void>): Promise<BackupReport> {
    const events = backUpLog(data, target);
    let isDone = false;
    for (;;) {
      const step = await events.next();
      if (step.done === true) return step.value;
      assert.equal(step.value.type, 'progress');
      if (!isDone) await between();
      isDone = true;
    }
  }
});
