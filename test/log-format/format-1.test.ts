/**
 * The folder `format-1`, as version 0.2 left it when it was killed. It has 50 entries. Each third has a key, and so have
 * 41, 43 and 45. 43 and 45 are in files, 45 with further facets. 6 and 44 are withheld, 9 is hidden, 10 was hidden and
 * is shown. To withhold 12 had begun, to withhold 15 and to hide 16 was decided.
 */
import assert from 'node:assert/strict';
import { cp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

import { verifyLog } from '@open-presence/gateway';

import { until } from '../../conformance/until.ts';
import { facet, type Facet } from '../../packages/gateway/src/log/facet.ts';
import {
  draftOf,
  type InlineDraft,
  metadataOf,
} from '../../packages/gateway/src/log/log.fixture.ts';
import type { Log } from '../../packages/gateway/src/log/log.ts';
import { openSqliteLog } from '../../packages/gateway/src/store/store.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { needs } from '../needs.ts';

const NAME = '3921a3ce62b48b7b';
const LAST_LINK = 'ef25979cc02fd1256e69c280065916cbbdc1ea0640eb92c9a9411a1f8e63f8a1';
const KINDS = ['garden', 'seeds', 'shepit'] as const;
const WITHHELD = [6, 12, 15, 44];
const HIDDEN = [9, 16];
/** System calls of a start: before the conversion, within its commit, after that, and while files are removed. */
const CALLS = ['fsync:3', 'fsync:5', 'fsync:6', 'unlink:2'] as const;

test('a folder of format 1 is converted, wherever it is killed', needs('strace'), async (t) => {
  const formats: unknown[] = [];
  for (const call of CALLS) {
    await using folder = await dataFolder();
    await cp(join(import.meta.dirname, 'format-1'), folder.path, { recursive: true });
    acceptClock(folder.path);
    // As in a folder that is restored from a backup.
    if (call === 'fsync:6')
      for (const name of ['segments', 'keys.sqlite', 'keys.sqlite-wal'])
        await rm(join(folder.path, name), { recursive: true });
    formats.push(await formatAfterKill(folder.path, call));
    {
      await using log = await openSqliteLog({ folder: folder.path });
      await assertConverted(log);
      await until(
        () => textsIn(folder.path),
        (texts) => texts.every((text) => !WITHHELD.some((seq) => text.includes(bodyOf(seq)))),
      );
      await log.withhold(HIDDEN, 'no harm in it', 'shown');
      for (const seq of HIDDEN) {
        const { text } = (await log.entry(seq)) ?? {};
        assert.ok(text !== undefined && Buffer.from(text).includes(bodyOf(seq)));
      }
    }
    const events = verifyLog(folder.path);
    let step = await events.next();
    for (; step.done !== true; step = await events.next())
      assert.notEqual(step.value.type, 'fault', JSON.stringify(step.value));
    assert.equal(step.value.link, LAST_LINK);
    const left = await readdir(folder.path, { recursive: true });
    assert.ok(!left.some((name) => /keys|segments|\.seeking/.test(name)), left.join(' '));
  }
  t.diagnostic(`formats after the kills: ${formats.join(' ')}`);
  assert.deepEqual(new Set(formats), new Set([1, 2]));
});

/** As version 0.2 would, however old the folder is. */
function acceptClock(folder: string): void {
  using db = new DatabaseSync(join(folder, 'log.sqlite'));
  db.prepare("INSERT INTO meta VALUES ('acceptedClock', ?)").run(Date.now());
}

async function formatAfterKill(data: string, point: (typeof CALLS)[number]): Promise<unknown> {
  const [call, number] = point.split(':');
  const fault = ['-e', `trace=${call}`, '-e', `inject=${call}:signal=SIGKILL:when=${number}`];
  const under = ['strace', '-D', '-f', '-o', '/dev/null', ...fault];
  const args = ['--threads', '1'];
  await assert.rejects(startGatewayProcess({ data, args, under }), /ended with SIGKILL/);
  using db = new DatabaseSync(join(data, 'log.sqlite'));
  return db.prepare('PRAGMA user_version').get()?.['user_version'];
}

async function assertConverted(log: Log): Promise<void> {
  assert.deepEqual([log.id, log.head()], [NAME, 50]);
  for (let seq = 3; seq <= 50; seq += 3)
    if (seq < 41 || seq > 45) {
      const result = await log.append(draftWithKey(seq));
      assert.deepEqual([result.outcome, metadataOf(result).seq], ['repeated', seq]);
    }
  for (const seq of WITHHELD)
    assert.equal((await log.entry(seq))?.withheld?.state, 'withheld', `${seq}`);
  for (const seq of HIDDEN)
    assert.equal((await log.entry(seq))?.withheld?.state, 'hidden', `${seq}`);
  assert.equal((await log.entry(10))?.withheld, undefined);
  const listed = await seqsOf(log, []);
  const left = Array.from({ length: 50 }, (_, at) => 50 - at);
  assert.deepEqual(
    listed,
    left.filter((seq) => ![...WITHHELD, ...HIDDEN].includes(seq)),
  );
  for (const value of ['thing 0', 'thing 63', 'thing 64', 'thing 199'])
    assert.deepEqual(await seqsOf(log, [facet('seeking', value)]), [45], value);
}

async function seqsOf(log: Log, facets: readonly Facet[]): Promise<number[]> {
  const entries = log.readEntries({ facets, order: 'newest' });
  return await Array.fromAsync(entries, ({ metadata }) => metadata.seq);
}

/** As it was sent to version 0.2. */
function draftWithKey(seq: number): InlineDraft {
  const members = { identity: [`visitor ${seq % 5}`] };
  const fields = { kind: KINDS[seq % 3] ?? 'garden', members, key: `key ${seq}` };
  return draftOf({ ...fields, body: `${bodyOf(seq)}","identity":"visitor ${seq % 5}"` });
}

function bodyOf(seq: number): string {
  return seq === 44 ? 'large 44 ' : `"text":"entry ${seq} of format 1`;
}

async function textsIn(folder: string): Promise<Buffer[]> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const isFile = files.filter((file) => file.isFile() && !file.name.endsWith('-shm'));
  return await Promise.all(isFile.map((file) => readFile(join(file.parentPath, file.name))));
}
