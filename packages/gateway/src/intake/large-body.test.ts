import assert from 'node:assert/strict';
import { test } from 'node:test';

import { facet } from '../log/facet.ts';
import type { Draft } from '../log/log.ts';
import { LargeBodyReader, parseDraft } from './draft.ts';
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

test('facets that are too many to be held are marked in the spool, none of them twice', async () => {
  const seeking = words(0, 7000);
  const text = JSON.stringify({ seeking, to: 'a', a: 'x'.repeat(1e5) });
  const { draft, spool } = await spooled(text);
  const whole = parseDraft('seeds', Buffer.from(text), grammar);
  assert.equal(draft.facets.length, (2 + 64 + 1) * 16);
  assert.deepEqual(draft.facets.subarray(0, 66 * 16), whole.facets.subarray(0, 66 * 16));
  const marked = Buffer.concat(spool.marked.get('seeking') ?? []);
  assert.deepEqual(marked, facetsOf(seeking.slice(64)));
});

test('what was marked for a member that is spelled again is taken back', async () => {
  const first = JSON.stringify(words(0, 9000));
  const second = words(9000, 3000);
  const to = JSON.stringify(words(0, 5000));
  const again = `{"seeking":${first},"to":${to},"seeking":${JSON.stringify(second)}}`;
  const { draft, spool } = await spooled(again);
  const held = draft.facets.subarray(2 * 16, 66 * 16);
  assert.deepEqual(Buffer.from(held), facetsOf(second.slice(0, 64)));
  assert.deepEqual(Buffer.concat(spool.marked.get('seeking') ?? []), facetsOf(second.slice(64)));
  assert.equal(Buffer.concat(spool.marked.get('to') ?? []).length, (5000 - 64) * 16);
  const none = await spooled(`{"seeking":${first},"seeking":null}`);
  assert.equal(none.draft.facets.length, 2 * 16);
  assert.equal(none.spool.marked.has('seeking'), false);
});

test('an array that turns out to hold more than strings leaves no facet', async () => {
  const { draft, spool } = await spooled(`{"seeking":${JSON.stringify([...words(0, 9000), 0])}}`);
  assert.equal(draft.facets.length, 2 * 16);
  assert.equal(spool.marked.has('seeking'), false);
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
