// Rows of the log whose bytes have changed on the disk.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, suite, test } from 'node:test';

import { entryHead, entryId } from '@open-presence/protocol';

import { isSpoiled } from '../database.ts';
import { RowReader } from './row-reader.ts';
import type { EntryRow } from './entry-row.ts';
import { createLog } from './log-database.ts';
import { type NewRow, RowWriter } from './row-writer.ts';

const COUNT = 12;
const SEQS = Array.from({ length: COUNT }, (_, at) => at + 1);
const LARGE = 2;
/** Its row is changed. */
const CHANGED = 6;

function rowOf(seq: number): NewRow {
  const [time, kind, room] = [1e12 + seq, 'garden', 'some-room'] as const;
  const head = entryHead({ id: entryId(time, seq, 5), seq, kind, room, time });
  const large = { name: '01234567-0123-4123-8123-0123456789ab', size: 1000 };
  return {
    time,
    kind,
    room,
    large: seq === LARGE ? large : undefined,
    link: Buffer.alloc(32, seq),
    salt: Buffer.alloc(16, seq + 1),
    key: seq % 3 === 0 ? Buffer.alloc(48, 7) : undefined,
    facets: Buffer.alloc(32, seq + 2),
    text: [Buffer.from(head), Buffer.from(`,"text":"entry ${seq}"}`)],
  };
}

/** All that it has; undefined where it cannot be read. */
function read(row: () => EntryRow | undefined): string | undefined {
  try {
    const found = row();
    if (found === undefined) return undefined;
    const { seq, time, kind, room, head, size, large, portability } = found;
    const bytes = [found.link, found.salt, found.key, found.facets, found.text];
    const hex = bytes.map((part) => part?.toString('hex'));
    return JSON.stringify([seq, time, kind, room, head, size, large, portability, hex]);
  } catch (error) {
    if (!isSpoiled(error)) throw error;
    return undefined;
  }
}

suite('a row that has changed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'presence-'));
  const file = join(folder, 'log.sqlite');
  after(() => rmSync(folder, { recursive: true, force: true }));
  {
    using db = new DatabaseSync(file);
    createLog(db);
    const writer = new RowWriter(db);
    for (const seq of SEQS) writer.put(seq, rowOf(seq));
  }
  const original = readFileSync(file);

  function readAll(): {
    readonly values: (string | undefined)[];
    readonly joined: (string | undefined)[];
  } {
    using db = new DatabaseSync(file, { readOnly: true });
    const log = new RowReader(db);
    const values = SEQS.map((seq) => read(() => log.entry(seq)));
    const inSpan = new Map<number, string | undefined>();
    for (const row of log.rows({ from: 1, to: COUNT }))
      inSpan.set(
        row.seq,
        read(() => row),
      );
    assert.deepEqual(
      SEQS.map((seq) => inSpan.get(seq)),
      values,
    );
    const pages = [
      [3, 4, 5],
      [9, 8, 7],
      [12, 10, 3],
      [4, 5, 6, 7],
      [7, 3, 6],
    ];
    return { values, joined: pages.map((seqs) => log.joinTexts(seqs, '\n')?.toString()) };
  }

  test('costs its entry at most, whichever bit it is, in whatever way others are read', () => {
    const whole = readAll();
    assert.ok(whole.values.every((value) => value !== undefined));
    assert.ok(whole.joined.every((text) => text !== undefined));
    const room = original.indexOf(
      Buffer.concat([Buffer.from('some-room@'), Buffer.alloc(32, CHANGED)]),
    );
    const end =
      original.indexOf(`"text":"entry ${CHANGED}"}`) + `"text":"entry ${CHANGED}"}`.length;
    // From the column types on: the bytes before say how long the row is, and which entry it belongs to.
    const begin = room - 6 - 11;
    assert.ok(room > 0 && end > room);
    for (let bit = 8 * begin; bit < 8 * end; bit += 1) {
      const changed = Buffer.from(original);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      writeFileSync(file, changed);
      const { values, joined } = readAll();
      const others = SEQS.filter((seq) => values[seq - 1] !== whole.values[seq - 1]);
      assert.ok(
        others.every((seq) => seq === CHANGED),
        `bit ${bit - 8 * begin}: ${others.join()}`,
      );
      assert.deepEqual(joined.slice(0, 3), whole.joined.slice(0, 3));
      for (const text of joined.slice(3)) {
        const lines = (text ?? '{}').split('\n');
        assert.ok(lines.every((line) => line.startsWith('{') && line.endsWith('}')));
      }
    }
    writeFileSync(file, original);
  });

  test('leads to no file outside the folder', () => {
    const changed = Buffer.from(original);
    const name = rowOf(LARGE).large?.name ?? '';
    for (let at = changed.indexOf(name); at > 0; at = changed.indexOf(name, at))
      changed.write('..'.repeat(12), at);
    writeFileSync(file, changed);
    assert.equal(readAll().values[LARGE - 1], undefined);
    writeFileSync(file, original);
  });
});
