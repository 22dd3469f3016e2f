/** What the picture of the garden requests. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import type { Activity, GardenEntries, GardenPage } from '@open-presence/web/page-data';

import { openGateway } from '../../../gateway.fixture.ts';
import { openMemoryLog } from '../../../../../../test/support/memory-log/memory-log.ts';

const DAY_MS = 86_400_000;

async function fetchJson<T>(url: string): Promise<T> {
  const answer = await fetch(url);
  assert.equal(answer.status, 200, url);
  return (await answer.json()) as T;
}

suite('the data of the garden', () => {
  test('counts what was stored, with samples of spans that have many entries', async () => {
    await using gateway = await openGateway(openMemoryLog());
    await gateway.addEntries(...Array.from({ length: 30 }, (_, at) => `trace ${at}`));
    const all = await fetchJson<Activity>(`${gateway.url}/web/activity?spans=1&samples=20`);
    assert.deepEqual(all.counts, { resonance: [0], garden: [30], seeds: [0], shepit: [0] });
    assert.deepEqual([all.bounds, all.head], [[1, 31], 30]);
    assert.deepEqual(
      all.samples?.[0]?.map(({ text }) => text),
      ['trace 3', 'trace 11', 'trace 18', 'trace 26'],
    );
    const few = await fetchJson<Activity>(`${gateway.url}/web/activity?spans=1&samples=30`);
    assert.deepEqual(few.samples, [[]]);
    const rooms = await fetchJson<Activity>(`${gateway.url}/web/activity?by=room&spans=1`);
    assert.deepEqual(rooms.counts['consciousness-garden'], [30]);
    const refused = await fetch(`${gateway.url}/web/activity?spans=0`);
    assert.equal(refused.status, 400);
    assert.match(await refused.text(), /"spans\\" must be a whole number from 1/);
  });

  test('finds the long times without entries, and when they began and ended', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const { now } = Date;
    const start = now() - 90 * DAY_MS;
    // Two bursts of seconds within a day of silence, and a third one weeks later.
    const times = [0, 1, 2, DAY_MS, DAY_MS + 5000, 30 * DAY_MS, 30 * DAY_MS + 1];
    try {
      for (const time of times) {
        Date.now = () => start + time;
        await gateway.addEntries(`at ${time}`);
      }
    } finally {
      Date.now = now;
    }
    const headers = { accept: 'text/html' };
    const html = await (await fetch(`${gateway.url}/garden`, { headers })).text();
    const [, json = ''] = /id="page-data">([^<]*)</.exec(html) ?? [];
    const { silences } = JSON.parse(json) as Pick<GardenPage, 'silences'>;
    const found = silences.map(({ from, to }) => [from - start, to - start]);
    for (const silence of [
      [2, DAY_MS],
      [DAY_MS, DAY_MS + 5000],
      [DAY_MS + 5000, 30 * DAY_MS],
    ])
      assert.ok(
        found.some((pair) => String(pair) === String(silence)),
        `${String(silence)}: ${found.join(' ')}`,
      );
  });

  test('has a few hundred bytes of each entry, whatever it holds', async () => {
    await using gateway = await openGateway(openMemoryLog());
    await gateway.addEntries('a'.repeat(200_000), 'short');
    const url = `${gateway.url}/web/garden?order=oldest`;
    const { head, entries } = await fetchJson<GardenEntries>(url);
    assert.equal(head, 2);
    assert.deepEqual(
      entries.map(({ text, author, kind }) => [text.length, author, kind]),
      [
        [240, 'Lumen', 'garden'],
        [5, 'Lumen', 'garden'],
      ],
    );
    assert.ok((entries[0]?.size ?? 0) > 200_000);
    const after = await fetchJson<GardenEntries>(`${url}&after=1&before=3`);
    assert.deepEqual(after.entries, entries.slice(1));
  });

  test('is there as soon as somebody who waits for it can have it', async () => {
    await using gateway = await openGateway(openMemoryLog());
    const waiting = fetchJson<GardenEntries>(`${gateway.url}/web/garden?after=0&wait=60`);
    await gateway.addEntries('new');
    assert.deepEqual((await waiting).entries[0]?.text, 'new');
  });
});
