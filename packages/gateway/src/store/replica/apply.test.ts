// Copies that are fed the same messages of a stream are the same log.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';

import { draftOf, randomOf } from '../../log/log.fixture.ts';
import { openForReading } from '../database.ts';
import { dataPathsIn } from '../data-paths.ts';
import { SharedState } from '../shared-state.ts';
import type { WriteResult } from '../../log/packed-drafts.ts';
import { RowReader } from '../log/row-reader.ts';
import { openLogForWriting } from '../log/log-database.ts';
import type { UnpackedBatch } from '../../log/ordered-batch.ts';
import { readStreamPosition } from './stream-progress.ts';
import { Writer } from '../writer/writer.ts';

const PUBLISHERS = ['aa', 'bb', 'cc'];

/** Messages as a stream may have them: some drafts have a key that another has, some have none. */
function messagesOf(seed: number, count: number): UnpackedBatch[] {
  const random = randomOf(seed);
  const numbers = new Map<string, number>();
  return Array.from({ length: count }, (_, index) => {
    const publisher = PUBLISHERS[random(PUBLISHERS.length)] ?? '';
    const number = (numbers.get(publisher) ?? 0) + 1;
    numbers.set(publisher, number);
    const drafts = Array.from({ length: random(4) }, (__, at) => {
      const key = random(3) === 0 ? { key: `key ${random(count)}` } : {};
      const draft = draftOf({ body: `"text":"${index} ${at}"`, ...key });
      return { ...draft, key: draft.key, large: undefined };
    });
    const settled = Math.max(0, number - 1 - random(3));
    const nonce = Buffer.alloc(32, random(256));
    // The time of a stream may go back when another server leads it.
    const time = 1_700_000_000_000 + index - random(3);
    return { position: index + 1, time, nonce, publisher, number, settled, sent: time, drafts };
  });
}

describe('a copy of a stream', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'presence-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function openWriter(name: string): { writer: Writer; shared: SharedState } {
    const paths = dataPathsIn(join(folder, name));
    mkdirSync(paths.large, { recursive: true });
    writeFileSync(paths.lock, '');
    const shared = new SharedState();
    return { writer: new Writer(paths, shared), shared };
  }

  /** Applies the messages in transactions of random sizes. */
  function apply(writer: Writer, messages: readonly UnpackedBatch[], seed: number): WriteResult[] {
    const random = randomOf(seed);
    const results: WriteResult[] = [];
    for (let at = 0; at < messages.length;) {
      const batches = messages.slice(at, (at += 1 + random(5)));
      const applied = writer.apply(batches, {
        stream: '',
        resumeAt: batches.at(-1)?.position ?? 0,
      });
      if (typeof applied === 'string') assert.fail(applied);
      results.push(...applied.flatMap((each) => each ?? []));
    }
    return results;
  }

  /** Every byte of every entry that is in the record. */
  function entriesOf(name: string): object[] {
    const db = openForReading(dataPathsIn(join(folder, name)).log);
    const reader = new RowReader(db);
    const entries = Array.from({ length: reader.lastSeq() }, (_, index) => {
      const entry = reader.entry(index + 1);
      const { time, link, salt, key, facets, text } = entry ?? assert.fail('an entry is missing');
      return [time, ...[link, salt, key, facets, text].map((bytes) => bytes?.toString('hex'))];
    });
    db.close();
    return entries;
  }

  it('has the same bytes as every other copy, however its messages come together', () => {
    const messages = messagesOf(1, 200);
    const copies = [1, 2].map((seed) => {
      const { writer } = openWriter(String(seed));
      const results = apply(writer, messages, seed);
      writer.close();
      return { results, entries: entriesOf(String(seed)) };
    });
    assert.ok((copies[0]?.entries.length ?? 0) > 100);
    assert.ok(copies[0]?.results.some(({ outcome }) => outcome !== 'appended'));
    assert.deepEqual(copies[1], copies[0]);
  });

  it('applies a message once that the stream has twice, and one that is delivered again', () => {
    const messages = messagesOf(2, 60);
    const { writer } = openWriter('repeats');
    // In the stream, a repetition comes while its number is not settled.
    const repeated = messages.flatMap((message, index) => {
      const next = messages
        .slice(index + 1)
        .find(({ publisher }) => publisher === message.publisher);
      return next !== undefined && next.settled < message.number ? [message, message] : [message];
    });
    assert.ok(repeated.length > messages.length);
    apply(
      writer,
      repeated.map((message, index) => ({ ...message, position: index + 1 })),
      3,
    );
    const again = repeated.map((message, index) => ({ ...message, position: index + 1 }));
    assert.deepEqual(apply(writer, again, 4), []);
    writer.close();
    const { writer: plain } = openWriter('plain');
    apply(plain, messages, 5);
    plain.close();
    assert.deepEqual(entriesOf('repeats'), entriesOf('plain'));
  });

  it('goes on where a killed process was, with all it had applied and nothing twice', () => {
    const messages = messagesOf(3, 90);
    const { writer: whole } = openWriter('whole');
    apply(whole, messages, 1);
    whole.close();
    const { writer: killed } = openWriter('killed');
    for (const end of [1, 30, 31, 60]) {
      apply(killed, messages.slice(0, end), end);
      // What a killed process leaves: the files without a close.
      cpSync(join(folder, 'killed'), join(folder, `after ${end}`), { recursive: true });
      const { writer } = openWriter(`after ${end}`);
      apply(writer, messages, 7);
      writer.close();
      assert.deepEqual(entriesOf(`after ${end}`), entriesOf('whole'));
    }
    killed.close();
  });

  it('refuses what was on its way for days, and forgets who was silent for longer', () => {
    const messages = messagesOf(5, 30);
    const days = (count: number): number => count * 86_400_000;
    const [last] = messages.slice(-1);
    assert.ok(last !== undefined);
    const moved = (index: number, time: number, sent: number): UnpackedBatch => ({
      ...last,
      publisher: `late ${index}`,
      position: last.position + index,
      time: last.time + time,
      sent: last.time + sent,
      drafts: [{ ...draftOf({ body: `"text":"${index}"` }), key: undefined, large: undefined }],
    });
    const late = [moved(1, days(2), 0), moved(2, days(2), days(4)), moved(3, days(2), days(2))];
    const { writer, shared } = openWriter('late');
    apply(writer, messages, 1);
    const head = shared.head;
    assert.equal(apply(writer, late, 2).length, 1);
    assert.equal(shared.head, head + 1);
    const publishers = (): string[] => {
      const db = openForReading(dataPathsIn(join(folder, 'late')).log);
      const rows = db.prepare("SELECT name FROM meta WHERE name LIKE 'publisher %'").all();
      db.close();
      return rows.map(({ name }) => String(name));
    };
    const before = publishers();
    // By a clock that is four days ahead.
    apply(writer, [moved(4, days(4), 0)], 3);
    assert.deepEqual(publishers(), before);
    // All others were silent for four days now.
    apply(writer, [moved(5, days(4), days(4))], 4);
    writer.close();
    assert.deepEqual(publishers(), ['publisher late 3', 'publisher late 5']);
  });

  it('has its position and its entries from the same transaction when storing fails', () => {
    const messages = messagesOf(4, 40);
    const { writer, shared } = openWriter('failing');
    apply(writer, messages.slice(0, 20), 1);
    const paths = dataPathsIn(join(folder, 'failing'));
    const locker = openLogForWriting(paths);
    const head = shared.head;
    // The transaction of another connection makes this one fail.
    locker.exec('BEGIN IMMEDIATE');
    assert.equal(writer.apply(messages.slice(20, 25), { stream: '', resumeAt: 25 }), 'unavailable');
    locker.exec('ROLLBACK');
    locker.close();
    assert.equal(shared.head, head);
    apply(writer, messages.slice(15), 2);
    writer.close();
    const db = openLogForWriting(paths);
    const { position, head: stored } = readStreamPosition(db) ?? assert.fail('no position');
    db.close();
    assert.deepEqual([position, stored], [40, shared.head]);
  });
});
