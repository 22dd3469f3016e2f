/** Appending: seqs, ids, times, texts, sizes, tally. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { entryHead, KINDS, seqOfId } from '@open-presence/protocol';

import { bodyOf, draftOf, ROOMS, metadataOf } from '../../packages/gateway/src/log/log.fixture.ts';
import { type Open, join } from './fixtures.ts';
import { CheckedLog } from './checked-log.ts';

const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export function describeAppending(open: Open): void {
  describe('append()', () => {
    describeMetadata(open);
    describeTexts(open);
    describeTally(open);
  });
}

function describeMetadata(open: Open): void {
  it('begins with an empty log that breathes and has a name of its own', async () => {
    await using one = await open();
    await using other = await open();
    assert.equal(one.log.head(), 0);
    assert.equal(one.log.writable(), true);
    assert.deepEqual([...one.log.roomCounts()], []);
    assert.ok(one.log.id.length > 0);
    assert.notEqual(one.log.id, other.log.id);
    assert.equal(await one.log.entry(1), undefined);
    await new CheckedLog(one.log).check();
  });

  it('gives the seqs 1, 2, 3 and moves the head with them', async () => {
    await using opened = await open();
    for (const seq of [1, 2, 3]) {
      const appended = await opened.log.append(draftOf());
      assert.equal(appended.outcome, 'appended');
      assert.deepEqual([metadataOf(appended).seq, opened.log.head()], [seq, seq]);
    }
  });

  it('gives 5,000 concurrent drafts the seqs from 1 to 5,000, each once', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    const metadata = await checked.appendAll(
      Array.from({ length: 5000 }, (_, at) => ({ body: `"text":"${at}"`, room: roomOf(at) })),
    );
    const seqs = metadata.map(({ seq }) => seq).toSorted((one, other) => one - other);
    assert.deepEqual(
      seqs,
      Array.from({ length: 5000 }, (_, at) => at + 1),
    );
    await checked.checkAll();
  });

  it('gives times that never go backwards, even when the clock is set back', async (t) => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    await checked.appendAll(Array.from({ length: 50 }, () => ({})));
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() - 3_600_000 });
    await checked.appendAll(Array.from({ length: 50 }, () => ({})));
    t.mock.timers.reset();
    await checked.appendAll(Array.from({ length: 50 }, () => ({})));
    const times = checked.entries.map(({ metadata }) => metadata.time);
    assert.deepEqual(
      times,
      times.toSorted((one, other) => one - other),
    );
  });

  it('gives UUIDv7 ids that carry time and seq, and sort as the seqs do', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    await checked.appendAll(Array.from({ length: 300 }, () => ({})));
    for (const { metadata } of checked.entries) {
      assert.match(metadata.id, UUID7);
      assert.equal(
        Number.parseInt(metadata.id.slice(0, 8) + metadata.id.slice(9, 13), 16),
        metadata.time,
      );
      const seq = seqOfId(metadata.id);
      assert.equal(seq, metadata.seq);
      assert.equal((await opened.log.entry(seq))?.metadata.id, metadata.id);
    }
    const ids = checked.entries.map(({ metadata }) => metadata.id);
    assert.deepEqual(ids, ids.toSorted());
  });

  it('has no entry for 0, for what is past the head, nor for what is no seq', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    await checked.appendAll([{}, {}, {}]);
    const none = [0, 4, 5, -1, 1.5, 2.000001, -0.5, 2 ** 32 + 1, 2 ** 53, 1e300, NaN, Infinity];
    for (const seq of none) assert.equal(await opened.log.entry(seq), undefined, `${seq}`);
  });
}

function describeTexts(open: Open): void {
  it('keeps what the visitor said letter by letter', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    const bodies = [
      String.raw`"text":"\ud800 \u0069d \/","n":1e400,"long":12345678901234567890.10`,
      '"text":"мова сну 漢字 🌱 \u2028\u2029\u0000","a":{},"a":[],"":null',
      ' "spaced" : [ 1 , 2 ] ',
      `"deep":${'['.repeat(5000)}${']'.repeat(5000)}`,
      '"text":"\',\\n{}[]%s\\u0000;--"',
    ];
    for (const body of bodies) {
      const metadata = await checked.append({ body });
      const entry = await opened.log.entry(metadata.seq);
      assert.equal(textOf(entry?.text), `${entryHead(metadata)},${body}}`);
    }
    await checked.checkAll();
  });

  it('closes an entry without members of a visitor right after its own', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    const { seq } = await checked.append({ kind: 'seeds', body: '' });
    const text = textOf((await opened.log.entry(seq))?.text);
    assert.match(text, /^\{"id":"[^"]+","seq":1,"kind":"seeds",.+Z"\}$/);
    await checked.appendSpooled({ kind: 'seeds', body: '' });
    await checked.checkAll();
  });

  it('keeps bodies of any size that come whole', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    await checked.append({ body: '' });
    // Sizes of bodies, and of whole texts: wherever a store draws its lines.
    const own = (checked.entries[0]?.text.length ?? 0) + 2;
    const lines = [65_536, 262_144, 1_048_576];
    const around = lines.flatMap((line) =>
      [line, line - own].flatMap((size) => Array.from({ length: 9 }, (_, at) => size + at - 4)),
    );
    for (const size of [0, 1, 2, ...around]) {
      await checked.append({ body: bodyOf(size, size) });
      await checked.append();
    }
    await checked.checkAll();
  });

  it('hands out the text of a small entry at once, and pieces as often as asked', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    await checked.append({ body: bodyOf(1024, 1) });
    const entry = await opened.log.entry(1);
    assert.ok(entry?.text !== undefined);
    const [once, again] = [entry.chunks(), entry.chunks()];
    for (const pieces of [once, again]) {
      assert.equal(textOf(await join(pieces)), textOf(entry.text));
    }
    assert.equal(textOf(await join(entry.chunks(900))), textOf(entry.text.subarray(900)));
    assert.equal(textOf(await join(entry.chunks(entry.size))), '');
  });
}

function describeTally(open: Open): void {
  it('is counted by room and kind at once', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    for (let at = 0; at < 60; at++) {
      const fields = { kind: KINDS[at % 4] ?? 'garden', room: roomOf(at * at) };
      await (at % 7 === 0 ? checked.appendSpooled(fields) : checked.append(fields));
      checked.checkTally();
    }
    await checked.appendAll(Array.from({ length: 500 }, (_, at) => ({ room: roomOf(at) })));
    checked.checkTally();
  });
}

function roomOf(at: number): string {
  return ROOMS[at % ROOMS.length] ?? ROOMS[0];
}

function textOf(bytes: Uint8Array | undefined): string {
  assert.ok(bytes !== undefined);
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}
