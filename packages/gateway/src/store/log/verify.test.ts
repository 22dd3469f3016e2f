import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';

import { entryHead, entryId } from '@open-presence/protocol';

import { bodyOf, cut, draftOf, fill, randomOf } from '../../log/log.fixture.ts';
import type { Log } from '../../log/log.ts';
import { dataPathsIn } from '../data-paths.ts';
import { openSqliteLog } from '../store.ts';
import {
  changeEntries,
  changeEntry,
  type ChangeableEntry,
  entryOf,
} from './changed-log.fixture.ts';
import { RowReader } from './row-reader.ts';
import type { LogFault } from './chain-verifier.ts';
import { verifyLog, type VerifyResult } from './verify.ts';

interface Report {
  readonly verified: VerifyResult;
  readonly faults: readonly LogFault[];
}

async function verify(folder: string, signal?: AbortSignal): Promise<Report> {
  const faults: LogFault[] = [];
  const events = verifyLog(folder, signal);
  for (;;) {
    const step = await events.next();
    if (step.done === true) return { verified: step.value, faults };
    if (step.value.type === 'fault')
      faults.push({ seq: step.value.seq, description: step.value.description });
  }
}

const SMALL = 100;
const LARGE = 101;
const EMPTY_LARGE = 102;
const LAST = 150;

/** Entries 1 … 150: number 7 is empty, 101 and 102 lie in files, some have keys. */
async function fillLog(log: Log, word = 'first'): Promise<void> {
  const small = async (from: number, to: number): Promise<void> => {
    const seqs = Array.from({ length: to - from + 1 }, (_, at) => from + at);
    await Promise.all(
      seqs.map((seq) => {
        const body = seq === 7 ? '' : `"text":"entry ${seq}"`;
        return log.append(draftOf({ body, ...(seq % 10 === 0 ? { key: `${word} ${seq}` } : {}) }));
      }),
    );
  };
  await small(1, SMALL);
  const spool = log.spool();
  await fill(spool, cut(bodyOf(700_000, 1), 100_000, randomOf(1)));
  await log.append({ ...draftOf({ key: `${word} large` }), body: spool });
  await log.append({ ...draftOf(), body: log.spool() });
  await small(EMPTY_LARGE + 1, LAST);
}

suite('verifyLog()', () => {
  let original: string;
  before(async () => {
    original = await mkdtemp(join(tmpdir(), 'presence-'));
    await using log = await openSqliteLog({ folder: original });
    await fillLog(log);
  });
  after(() => rm(original, { recursive: true, force: true }));

  /** What is found in a copy of the log alone, once someone has been at it. */
  async function found(
    tamper: (folder: string, db: DatabaseSync) => unknown,
  ): Promise<readonly LogFault[]> {
    await using copy = await copied(original);
    const { log, lastCommit, index } = dataPathsIn(copy.path);
    for (const path of [lastCommit, index]) await rm(path);
    {
      using db = new DatabaseSync(log);
      await tamper(copy.path, db);
    }
    const { verified, faults } = await verify(copy.path);
    assert.equal(verified.faults, faults.length);
    return faults;
  }

  test('finds nothing in a log as it was written', async () => {
    const { verified, faults } = await verify(original);
    assert.deepEqual(faults, []);
    await using log = await openSqliteLog({ folder: original });
    const pieces = log.readText({ facets: [], order: 'oldest' }, '\n');
    const text = Buffer.concat(await Array.fromAsync(pieces, (piece) => Buffer.from(piece)));
    const { name, entries, bytes, link } = verified;
    assert.deepEqual([name, entries, bytes], [log.id, LAST, text.length - (LAST - 1)]);
    assert.match(link, /^[\da-f]{64}$/);
  });

  test('finds nothing beside a log that is open and being written to', async () => {
    await using copy = await copied(original);
    await using log = await openSqliteLog({ folder: copy.path });
    const writing = fillLog(log, 'second');
    const { verified, faults } = await verify(copy.path);
    assert.deepEqual(faults, []);
    assert.ok(verified.entries >= LAST);
    await writing;
    assert.equal((await verify(copy.path)).verified.entries, 2 * LAST);
  });

  test('finds nothing in an empty log', async () => {
    await using empty = await copied(undefined);
    await using log = await openSqliteLog({ folder: empty.path });
    const { verified, faults } = await verify(empty.path);
    assert.deepEqual(faults, []);
    assert.deepEqual([verified.name, verified.entries, verified.bytes], [log.id, 0, 0]);
  });

  test('changes nothing', async () => {
    await using copy = await copied(original);
    const { log } = dataPathsIn(copy.path);
    const before = await readFile(log);
    await verify(copy.path);
    assert.ok(before.equals(await readFile(log)));
    assert.equal((await readFile(`${log}-wal`)).length, 0);
  });

  test('finds any changed byte of a text', async () => {
    const { length } = textOf(original, SMALL);
    for (let at = 0; at < length; at += 1) {
      const faults = await found((_, db) => flip(db, SMALL, at));
      assert.deepEqual(new Set(faults.map(({ seq }) => seq)), new Set([SMALL]), `byte ${at}`);
    }
  });

  test('finds a changed head of a large entry', async () => {
    const faults = await found((_, db) => flip(db, LARGE, 60));
    assert.deepEqual(new Set(faults.map(({ seq }) => seq)), new Set([LARGE]));
  });

  for (const at of [0, 300_000, 699_999, 700_000]) {
    test(`finds a changed byte ${at} of a large file`, async () => {
      const faults = await found(async (folder) => {
        const file = await largeOf(folder);
        const bytes = await readFile(file);
        bytes[at] = (bytes[at] ?? 0) ^ 1;
        await writeFile(file, bytes);
      });
      assert.deepEqual(seqs(faults), [LARGE]);
    });
  }

  for (const size of [0, 1, 300_000, 700_000, 700_002]) {
    test(`finds a large file of ${size} bytes instead of 700001`, async () => {
      const faults = await found(async (folder) => truncate(await largeOf(folder), size));
      assert.deepEqual(seqs(faults), [LARGE]);
      assert.match(faults[0]?.description ?? '', /bytes, not/);
    });
  }

  test('finds a lost large file', async () => {
    const faults = await found(async (folder) => rm(await largeOf(folder)));
    assert.deepEqual(faults, [{ seq: LARGE, description: 'has lost its file' }]);
  });

  test('finds missing rows', async () => {
    const remove = (db: DatabaseSync, from: number, to = from): void =>
      changeEntries(db, (entries) => {
        for (let seq = from; seq <= to; seq += 1) entries.delete(seq);
      });
    const one = await found((_, db) => remove(db, 33));
    assert.deepEqual(one, [{ seq: 33, description: 'is missing' }]);
    const first = await found((_, db) => remove(db, 1, 5));
    assert.deepEqual(first, [{ seq: 1, description: 'is missing, and so are all up to 5' }]);
  });

  test('finds rows that were swapped', async () => {
    const faults = await found((_, db) =>
      changeEntries(db, (entries) => {
        entries.set(40, entryOf(db, 41)).set(41, entryOf(db, 40));
      }),
    );
    // 42 is linked to what is now at 40.
    assert.deepEqual([...new Set(seqs(faults))], [40, 41, 42]);
  });

  test('finds texts that were swapped', async () => {
    const faults = await found((_, db) =>
      changeEntries(db, (entries) => {
        for (const seq of [40, 41])
          entries.set(seq, { ...entryOf(db, seq), text: entryOf(db, 81 - seq).text });
      }),
    );
    assert.deepEqual([...new Set(seqs(faults))], [40, 41]);
  });

  const changes: Readonly<Record<string, (entry: ChangeableEntry) => Partial<ChangeableEntry>>> = {
    'a later time': ({ time }) => ({ time: time + 1 }),
    'an early time': () => ({ time: 5 }),
    'a negative time': () => ({ time: -1 }),
    'a time that no date has': () => ({ time: 9_007_199_254_740_992 }),
    'another kind': () => ({ kind: 'seeds' }),
    'another room': () => ({ room: 'elsewhere' }),
    'a longer room': ({ room }) => ({ room: `${room}s` }),
    'an empty link': () => ({ link: Buffer.alloc(32) }),
    'another salt': () => ({ salt: Buffer.alloc(16) }),
    'a file': () => ({
      large: { name: '00000000-0000-4000-8000-000000000000', size: 0 },
    }),
    'a file elsewhere': () => ({
      large: { name: '../log.sqlite'.padStart(36, '.'), size: 0 },
    }),
    'no text': () => ({ text: [Buffer.alloc(0)] }),
    'a longer text': ({ text: [text] }) => ({
      text: [Buffer.from(text.toString().replace('"text":', '"text" :'))],
    }),
    'a shorter text': ({ text: [text] }) => ({ text: [text.subarray(0, -1)] }),
  };
  for (const [name, change] of Object.entries(changes)) {
    test(`finds ${name}`, async () => {
      const faults = await found((_, db) => changeEntry(db, SMALL, change));
      assert.deepEqual([...new Set(seqs(faults))], [SMALL]);
    });
  }

  test('finds another size of a large file', async () => {
    const faults = await found((_, db) =>
      changeEntry(db, LARGE, ({ large }) => ({
        large: large && { ...large, size: large.size + 1 },
      })),
    );
    assert.deepEqual(seqs(faults), [LARGE]);
  });

  test('finds any changed bit of the idempotency key of an entry, and an entry that its key does not find', async () => {
    for (let bit = 0; bit < 8 * 48; bit += 7) {
      const own = await found((_, db) => flipOwnKey(db, SMALL, bit));
      assert.ok(own.length > 0 && own.every(({ seq }) => seq === SMALL), `bit ${bit}`);
    }
    const without = await found((_, db) => changeEntry(db, SMALL, () => ({ key: undefined })));
    assert.ok(seqs(without).includes(SMALL));
    const unfound = await found((folder, db) => {
      db.close();
      changeKeyInIndex(dataPathsIn(folder).log, SMALL);
    });
    assert.deepEqual(unfound, [{ seq: SMALL, description: 'is not found by its idempotency key' }]);
  });

  test('finds any changed bit of what no link covers: flags, facets, and the name and size of a file', async () => {
    const flips: Readonly<Record<string, number>> = { flags: SMALL, facets: SMALL, sum: LARGE };
    for (const [column, seq] of Object.entries(flips))
      for (let at = 0; at < (column === 'flags' ? 1 : 4); at += 1)
        for (let bit = 0; bit < 8; bit += 1) {
          const faults = await found((_, db) => flipColumn(db, { column, seq, at, bit }));
          assert.deepEqual([...new Set(seqs(faults))], [seq], `${column} ${at} ${bit}`);
        }
    const size = await found((_, db) =>
      db.exec(`UPDATE large SET size = size ^ 1`.replace('^ 1', '+ 1')),
    );
    assert.ok(seqs(size).includes(LARGE));
  });

  test('finds a time that goes backwards', async () => {
    await using copy = await copied(original);
    const db = new DatabaseSync(dataPathsIn(copy.path).log);
    // As one who knows how entries are made would change it, save for the link.
    changeEntry(db, 60, ({ time: original, kind, room, text: [text] }) => {
      const time = original - 100_000;
      const { head = 0 } = new RowReader(db).entry(60) ?? {};
      const own = entryHead({ id: entryId(time, 60, 1), seq: 60, kind, room, time });
      return { time, text: [Buffer.concat([Buffer.from(own), text.subarray(head)])] };
    });
    db.close();
    const { faults } = await verify(copy.path);
    assert.deepEqual(seqs(faults), [60, 60]);
    assert.equal(faults[0]?.description, 'is of an earlier time than an entry before it');
  });

  test('tells every fault, and goes on after each', async () => {
    const faults = await found((_, db) => {
      for (const seq of [3, 64, 65, 129]) flip(db, seq, -3);
      changeEntries(db, (entries) => entries.delete(100));
    });
    assert.deepEqual(seqs(faults), [3, 64, 65, 100, 129]);
  });

  test('finds every entry in a damaged page, and verifies what comes after', async () => {
    await using copy = await copied(original);
    const { log } = dataPathsIn(copy.path);
    const bytes = await readFile(log);
    const text = Buffer.from('"text":"entry 90"');
    const size = bytes.readUInt16BE(16);
    const page = Math.floor(bytes.indexOf(text) / size) * size;
    await writeFile(log, bytes.fill(0xff, page, page + 64));
    const { verified, faults } = await verify(copy.path);
    const spoiled = seqs(faults) as number[];
    assert.ok(spoiled.includes(90) && spoiled.length < 20);
    assert.deepEqual(
      spoiled,
      spoiled.map((_, at) => (spoiled[0] ?? 0) + at),
    );
    assert.equal(verified.entries + spoiled.length, LAST);
    for (const { description } of faults) assert.match(description, /^cannot be read \(/);
  });

  test('throws where there is no log that it can read', async () => {
    await using copy = await copied(undefined);
    await assert.rejects(verify(copy.path), /There is no log in/);
    assert.deepEqual(await readdir(copy.path), []);
    await writeFile(dataPathsIn(copy.path).log, 'anything but a log. '.repeat(1000));
    await assert.rejects(verify(copy.path), /not a database/);
    await rm(dataPathsIn(copy.path).log);
    new DatabaseSync(dataPathsIn(copy.path).log).exec('CREATE TABLE mine (a)');
    await assert.rejects(verify(copy.path), /is not the log of a presence gateway/);
    await using newer = await copied(original);
    const db = new DatabaseSync(dataPathsIn(newer.path).log);
    db.exec('PRAGMA user_version = 999');
    db.close();
    await assert.rejects(verify(newer.path), /has format 999.* Use the newer version/);
    await using early = await copied(original);
    const earlyDb = new DatabaseSync(dataPathsIn(early.path).log);
    earlyDb.exec('PRAGMA application_id = 0x4f50474c; PRAGMA user_version = 7');
    earlyDb.close();
    const wayOn = /before the first release.*presence export --data .*presence import FILE/;
    await assert.rejects(verify(early.path), wayOn);
    await assert.rejects(openSqliteLog({ folder: early.path }), wayOn);
  });

  test('ends when aborted', async () => {
    await assert.rejects(verify(original, AbortSignal.abort()), { name: 'AbortError' });
  });
});

async function copied(
  folder: string | undefined,
): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'presence-'));
  if (folder !== undefined) await cp(folder, path, { recursive: true });
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** The file of the entry `LARGE`. */
async function largeOf(folder: string): Promise<string> {
  const db = new DatabaseSync(dataPathsIn(folder).log);
  const { name = '' } = entryOf(db, LARGE).large ?? {};
  db.close();
  return join(dataPathsIn(folder).large, name.slice(0, 2), name);
}

function textOf(folder: string, seq: number): Uint8Array {
  const db = new DatabaseSync(dataPathsIn(folder).log);
  const [text] = entryOf(db, seq).text;
  db.close();
  return text;
}

/** Changes one bit of a text; a place below 0 counts from its end. */
function flip(db: DatabaseSync, seq: number, place: number): void {
  changeEntry(db, seq, ({ text: [text] }) => {
    const at = place < 0 ? text.length + place : place;
    text[at] = (text[at] ?? 0) ^ 1;
    return { text: [text] };
  });
}

function flipOwnKey(db: DatabaseSync, seq: number, bit: number): void {
  changeEntry(db, seq, ({ key = Buffer.alloc(0) }) => ({ key: flipped(key, bit) }));
}

/** Changes a byte of the key in the index alone: its row has 16 bytes of salt before the key. */
function changeKeyInIndex(log: string, seq: number): void {
  const db = new DatabaseSync(log);
  const { key = Buffer.alloc(0) } = entryOf(db, seq);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  const bytes = readFileSync(log);
  const prefix = Buffer.from(key).subarray(16, 22);
  for (let at = bytes.indexOf(prefix); at >= 0; at = bytes.indexOf(prefix, at + 1))
    if (!bytes.subarray(at - 16, at).equals(Buffer.from(key).subarray(0, 16)))
      bytes[at + 5] = (bytes[at + 5] ?? 0) ^ 1;
  writeFileSync(log, bytes);
}

interface Place {
  readonly column: string;
  readonly seq: number;
  readonly at: number;
  readonly bit: number;
}

function flipColumn(db: DatabaseSync, { column, seq, at, bit }: Place): void {
  const value = db.prepare(`SELECT ${column} AS value FROM entries WHERE seq = ?`).get(seq)?.[
    'value'
  ];
  const changed =
    typeof value === 'number' ? value ^ (1 << bit) : flipped(value as Uint8Array, 8 * at + bit);
  db.prepare(`UPDATE entries SET ${column} = ? WHERE seq = ?`).run(changed, seq);
}

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return changed;
}

function seqs(faults: readonly LogFault[]): (number | undefined)[] {
  return faults.map(({ seq }) => seq).toSorted(inOrder);
}

function inOrder(a = 0, b = 0): number {
  return a - b;
}
