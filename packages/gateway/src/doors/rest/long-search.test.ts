import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';

import { fetchBytes, openGateway } from '../../gateway.fixture.ts';
import { untilSearchable } from '../../search/search.fixture.ts';
import { openSqliteLog } from '../../store/store.ts';

it('a search of many words finds what one of few would', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'presence-'));
  const log = await openSqliteLog({ folder });
  const gateway = await openGateway(log);
  const words = Array.from({ length: 1000 }, (_, at) => `w${at}`);
  const text = words.join(' ');
  // The last two are large entries.
  const large = ' more'.repeat(20_000);
  await gateway.addEntries(text, `${text} noise`, 'w1 w2 w3', text + large, `other${large}`);
  await untilSearchable(log);
  const found = async (q: string, order: string): Promise<readonly number[]> => {
    const path = `/api/search?q=${encodeURIComponent(q)}&order=${order}`;
    const { status, bytes } = await fetchBytes(gateway, path);
    assert.equal(status, 200, bytes.toString().slice(0, 500));
    const { results } = JSON.parse(bytes.toString()) as {
      results: readonly { entry: { seq: number }; snippet: string }[];
    };
    for (const { snippet } of results) assert.match(snippet, /w\d+ w\d+/);
    return results.map(({ entry }) => entry.seq);
  };
  const excluded = words.map((_, at) => `-x${at}`).join(' ');
  for (const order of ['newest', 'best']) {
    const sorted = async (q: string): Promise<readonly number[]> =>
      (await found(q, order)).toSorted((a, b) => a - b);
    assert.deepEqual(await sorted(text), [1, 2, 4]);
    assert.deepEqual(await sorted(`"${text}"`), [1, 2, 4]);
    assert.deepEqual(await sorted(`${text} absent`), []);
    assert.deepEqual(await sorted(`"${text} absent"`), []);
    assert.deepEqual(await sorted(`${text} ${excluded}`), [1, 2, 4]);
    assert.deepEqual(await sorted(`${text} ${excluded} -noise`), [1, 4]);
    assert.deepEqual(await sorted(`w1 w2 ${excluded} -w999`), [3]);
  }
  await gateway[Symbol.asyncDispose]();
  await log[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});
