import assert from 'node:assert/strict';
import { test } from 'node:test';

import { facet } from '../log/facet.ts';
import type { Draft } from '../log/log.ts';
import { LargeBodyReader } from './draft.ts';
import { ArraySpool, grammar } from './intake.fixture.ts';

async function spooled(text: string, size = 50_000): Promise<{ draft: Draft; spool: ArraySpool }> {
  const spool = new ArraySpool();
  const large = new LargeBodyReader(grammar, 'seeds', spool);
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; from += size) {
    await large.feed(bytes.subarray(from, from + size));
  }
  return { draft: await large.finish(undefined), spool };
}

const words = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `word ${from + index}`);
const facetsOf = (all: readonly string[]): Buffer =>
  Buffer.concat(all.map((word) => facet('seeking', word)));

test('of each filter, the first 25,000 values have a facet', async () => {
  const seeking = words(0, 30_000);
  const { draft } = await spooled(JSON.stringify({ seeking, to: 'a' }));
  assert.equal(draft.facets.length, (2 + 25_000 + 1) * 16);
  const held = Buffer.from(draft.facets.subarray(2 * 16, 25_002 * 16));
  assert.deepEqual(held, facetsOf(seeking.slice(0, 25_000)));
});

test('a member that is spelled again replaces what it had', async () => {
  const first = JSON.stringify(words(0, 9000));
  const second = words(9000, 3000);
  const again = await spooled(`{"seeking":${first},"seeking":${JSON.stringify(second)}}`);
  assert.deepEqual(Buffer.from(again.draft.facets.subarray(2 * 16)), facetsOf(second));
  const none = await spooled(`{"seeking":${first},"seeking":null}`);
  assert.equal(none.draft.facets.length, 2 * 16);
});

test('an array that turns out to hold more than strings leaves no facet', async () => {
  const { draft } = await spooled(`{"seeking":${JSON.stringify([...words(0, 9000), 0])}}`);
  assert.equal(draft.facets.length, 2 * 16);
});

test('a value of any length is found by all of it', async () => {
  const name = `${'Мавка '.repeat(50_000)}\uD800 😀`;
  const { draft } = await spooled(JSON.stringify({ identity: name }), 4099);
  const expected = facet('identity', name);
  assert.deepEqual(Buffer.from(draft.facets.subarray(32)), Buffer.from(expected));
});

test('a long run of spaces is kept between members and dropped at the ends', async () => {
  const gap = ' '.repeat(300_000);
  const { spool } = await spooled(
    `{${gap}"a"${gap}:1${gap},${gap}"room":"first-breath",${gap}"b":2${gap}}`,
  );
  assert.equal(spool.text, `"a"${gap}:1${gap},${gap}"b":2`);
  assert.ok(spool.written.every((bytes) => bytes.length < 250_000));
});

test('others get their turn while a large body is read, even if the spool never waits', async () => {
  let turns = 0;
  let reading = true;
  const tick = (): void => {
    turns++;
    if (reading) setImmediate(tick);
  };
  setImmediate(tick);
  await spooled(`{"a":[${'[1,{"b":null}],'.repeat(400_000)}0]}`, 10_000_000);
  reading = false;
  assert.ok(turns > 3);
});
