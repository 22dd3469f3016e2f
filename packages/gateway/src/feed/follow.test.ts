import assert from 'node:assert/strict';
import { test } from 'node:test';

import { draftOf } from '../log/log.fixture.ts';
import { facet } from '../log/facet.ts';
import type { Log, Seq } from '../log/log.ts';
import { openMemoryLog } from '../../../../test/support/memory-log/memory-log.ts';
import { follow, type LogRange } from './follow.ts';

const ALL = { facets: [] };

async function fill(log: Log, count: number): Promise<void> {
  for (let at = 0; at < count; at++) await log.append(draftOf());
}

/** The seqs that a follower reads until it has all up to `last`. Calls `pause` after each range. */
async function followedSeqs(
  log: Log,
  after: Seq,
  last: Seq,
  pause?: () => Promise<void>,
): Promise<Seq[]> {
  const seqs: Seq[] = [];
  for await (const range of follow(log, ALL, { after, signal: new AbortController().signal })) {
    for await (const { metadata } of log.readEntries(range)) seqs.push(metadata.seq);
    if (range.before > last) return seqs;
    await pause?.();
  }
  return seqs;
}

const from = (first: Seq, last: Seq): Seq[] =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at);

test('follow() gives everything after the cursor, then what is new, once and in order', async () => {
  await using log = openMemoryLog();
  await fill(log, 100);
  const followers = [
    followedSeqs(log, 0, 300),
    followedSeqs(log, 40, 300),
    followedSeqs(log, 100, 300),
  ];
  for (let round = 0; round < 20; round++) {
    await fill(log, 10);
    await new Promise((resolve) => void setTimeout(resolve, 2));
  }
  assert.deepEqual(await Promise.all(followers), [from(1, 300), from(41, 300), from(101, 300)]);
});

test('follow() misses nothing for a follower that is slow', async () => {
  await using log = openMemoryLog();
  const pause = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 30));
  const slow = followedSeqs(log, 0, 200, pause);
  const quick = followedSeqs(log, 0, 200);
  for (let round = 0; round < 100; round++) {
    await fill(log, 2);
    await new Promise((resolve) => void setImmediate(resolve));
  }
  assert.deepEqual(await slow, from(1, 200));
  assert.deepEqual(await quick, from(1, 200));
});

test('follow() tells those who keep up the same', async () => {
  await using log = openMemoryLog();
  const ranges: LogRange[][] = [[], [], []];
  const all = ranges.map(async (news) => {
    const { signal } = new AbortController();
    for await (const one of follow(log, ALL, { after: 0, signal })) {
      news.push(one);
      if (one.before > 500) return;
    }
  });
  for (let round = 0; round < 50; round++) {
    await fill(log, 10);
    await new Promise((resolve) => void setTimeout(resolve, 1));
  }
  await Promise.all(all);
  assert.deepEqual(ranges[1], ranges[0]);
  assert.deepEqual(ranges[2], ranges[0]);
});

test('follow() keeps the selection, and bounds it by what is new', async () => {
  await using log = openMemoryLog();
  await log.append(draftOf());
  const selection = { facets: [facet('kind', 'seeds')], since: 5 };
  const { signal } = new AbortController();
  for await (const range of follow(log, selection, { after: 0, signal })) {
    assert.deepEqual(range, { ...selection, order: 'oldest', after: 0, before: 2 });
    break;
  }
});

test('follow() waits for a cursor that lies beyond the head', async () => {
  await using log = openMemoryLog();
  const beyond = followedSeqs(log, 5, 7);
  await fill(log, 7);
  assert.deepEqual(await beyond, [6, 7]);
});

test('follow() ends with its signal, before, while and after it waits', async () => {
  await using log = openMemoryLog();
  await fill(log, 1);
  const aborted = AbortSignal.abort();
  for await (const _ of follow(log, ALL, { after: 0, signal: aborted }))
    assert.fail('aborted before');
  const waits = new AbortController();
  const waiting = (async (): Promise<number> => {
    let count = 0;
    for await (const _ of follow(log, ALL, { after: 0, signal: waits.signal })) count += 1;
    return count;
  })();
  await new Promise((resolve) => void setImmediate(resolve));
  waits.abort();
  assert.equal(await waiting, 1);
  const reads = new AbortController();
  for await (const _ of follow(log, ALL, { after: 0, signal: reads.signal })) reads.abort();
});
