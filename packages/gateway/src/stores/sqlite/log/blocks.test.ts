import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, suite, test } from 'node:test';

import { entryHead, entryId } from '@open-presence/protocol';

import { isSpoiled } from '../database.ts';
import { BlockReader } from './block-reader.ts';
import { BlockWriter } from './block-writer.ts';
import { Block } from './blocks.ts';
import type { EntryRow, NewRecord } from './record.ts';

const COUNT = 4;
/** Bytes of the header of a block: size, first seq, and the check of both. */
const HEADER = 16;

function recordOf(seq: number, body = `"text":"entry ${seq}"`): NewRecord {
  const [time, kind, room] = [1e12 + seq, 'garden', 'some-room'] as const;
  const head = entryHead({ id: entryId(time, seq, 5), seq, kind, room, time });
  const large = { name: '01234567-0123-4123-8123-0123456789ab', size: 1000 };
  return {
    time,
    kind,
    room,
    head: head.length,
    marked: seq === 2,
    large: seq === 2 ? large : undefined,
    link: Buffer.alloc(32, seq),
    salt: Buffer.alloc(16, seq + 1),
    key: seq === 3 ? Buffer.alloc(48, 7) : undefined,
    facets: Buffer.alloc(32, seq + 2),
    text: [Buffer.from(head), Buffer.from(`,${body}}`)],
  };
}

/** All that it has. */
function valueOf(row: EntryRow): unknown {
  const { seq, time, kind, room, head, size, large, marked, link, salt, key, facets, text } = row;
  const bytes = [link, salt, key, facets, text].map((part) => part?.toString('latin1'));
  return { seq, time, kind, room, head, size, large, marked, bytes };
}

/** Undefined where it cannot be read. */
function read(entry: () => EntryRow | undefined): unknown {
  try {
    const row = entry();
    assert.ok(row !== undefined);
    return valueOf(row);
  } catch (error) {
    if (!isSpoiled(error)) throw error;
    return undefined;
  }
}

suite('a block', () => {
  let db: DatabaseSync;
  beforeEach(() => {
    db = new DatabaseSync(':memory:');
    db.exec(
      'CREATE TABLE blocks (first INTEGER PRIMARY KEY, data BLOB); CREATE TABLE large (name TEXT PRIMARY KEY, seq INTEGER)',
    );
  });

  function write(records: Iterable<readonly [number, NewRecord]>): void {
    const writer = new BlockWriter(db);
    for (const [seq, record] of records) writer.add(seq, record);
    writer.flush();
  }

  test('has the entries that were written', () => {
    const seqs = Array.from({ length: 100 }, (_, at) => at + 1);
    const long = `"text":"${'long '.repeat(20_000)}"`;
    write(seqs.map((seq) => [seq, recordOf(seq, seq % 30 === 0 ? long : undefined)]));
    const reader = new BlockReader(db);
    for (const row of reader.rows({ from: 1, to: 100 })) {
      const record = recordOf(row.seq, row.seq % 30 === 0 ? long : undefined);
      const { text, large, ...same } = record;
      const joined = Buffer.concat(text);
      const size = joined.length + (large?.size ?? 0);
      assert.deepEqual(
        valueOf(row),
        valueOf({ ...(same as EntryRow), seq: row.seq, large: large?.name, text: joined, size }),
      );
      seqs.shift();
    }
    assert.deepEqual(seqs, []);
    const { count = 0 } = db.prepare('SELECT count(*) AS count FROM blocks').get() ?? {};
    assert.ok(Number(count) > 10 && Number(count) < 50);
  });

  test('has no entry whose file has a name that leads out of the folder', () => {
    const record = recordOf(2);
    const name = '../../../../../../../../../etc/passwd';
    const large = { name: name.slice(-36), size: 1000 };
    write([
      [1, recordOf(1)],
      [2, { ...record, large }],
    ]);
    const data = Buffer.from(db.prepare('SELECT data FROM blocks').get()?.['data'] as Uint8Array);
    const block = new Block(1, data);
    assert.notEqual(
      read(() => block.entry(1)),
      undefined,
    );
    assert.equal(
      read(() => block.entry(2)),
      undefined,
    );
  });

  test('costs one entry at most where one bit has changed', () => {
    write(Array.from({ length: COUNT }, (_, at) => [at + 1, recordOf(at + 1)]));
    const data = Buffer.from(db.prepare('SELECT data FROM blocks').get()?.['data'] as Uint8Array);
    const original = new Block(1, Buffer.from(data));
    const seqs = Array.from({ length: COUNT }, (_, at) => at + 1);
    const values = seqs.map((seq) => read(() => original.entry(seq)));
    for (let bit = 0; bit < 8 * data.length; bit += 1) {
      const changed = Buffer.from(data);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const block = new Block(1, changed);
      const now = seqs.map((seq) => read(() => block.entry(seq)));
      const others = now.filter((value, at) => !isSame(value, values[at]));
      assert.ok(others.length <= (bit < 8 * HEADER ? 0 : 1), `bit ${bit}: ${others.length}`);
    }
  });

  test('is read right with others beside it where one bit of its header has changed', () => {
    write(Array.from({ length: 40 }, (_, at) => [at + 1, recordOf(at + 1)]));
    const row = db.prepare('SELECT first, data FROM blocks ORDER BY first LIMIT 1 OFFSET 2').get();
    const data = Buffer.from(row?.['data'] as Uint8Array);
    const seqs = Array.from({ length: 40 }, (_, at) => at + 1).filter((seq) => seq !== 2);
    const reader = new BlockReader(db);
    const rows = (): unknown[] => Array.from(reader.rows({ from: 1, to: 40 }), valueOf);
    const texts = (): (string | undefined)[] =>
      [seqs, seqs.toReversed(), [1, 30], [7, 20, 39]].map((some) =>
        reader.joinTexts(some, '\n')?.toString(),
      );
    const [originalRows, originalTexts] = [rows(), texts()];
    assert.ok(originalTexts.every((text) => text !== undefined));
    for (let bit = 0; bit < 8 * HEADER; bit += 1) {
      const changed = Buffer.from(data);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      db.prepare('UPDATE blocks SET data = ? WHERE first = ?').run(
        changed,
        row?.['first'] as number,
      );
      assert.deepEqual(rows(), originalRows);
      // Those that cannot be joined are read one by one.
      for (const [at, text] of texts().entries())
        assert.ok(text === undefined || text === originalTexts[at], `bit ${bit}`);
    }
  });

  test('that has lost its end, or is anything else, gives what is left or nothing', () => {
    write(Array.from({ length: COUNT }, (_, at) => [at + 1, recordOf(at + 1)]));
    const data = Buffer.from(db.prepare('SELECT data FROM blocks').get()?.['data'] as Uint8Array);
    for (let size = 0; size < data.length; size += 1) {
      const cut = new Block(1, data.subarray(0, size));
      const zeros = new Block(1, Buffer.concat([data.subarray(0, size), Buffer.alloc(4096)]));
      for (const block of [cut, zeros, new Block(1, Buffer.alloc(size, 0xff))]) {
        for (let seq = 1; seq <= COUNT + 1; seq += 1) {
          try {
            const { seq: found = seq } = block.entry(seq) ?? {};
            assert.equal(found, seq);
          } catch (error) {
            assert.ok(isSpoiled(error), String(error));
          }
        }
      }
    }
  });
});

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
