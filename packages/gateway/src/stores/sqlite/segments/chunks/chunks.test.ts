/** Chunks as readers get them who accept them compressed. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, mock } from 'node:test';
import { crc32, inflateRawSync, zstdDecompressSync } from 'node:zlib';

import { until } from '../../../../../../../conformance/until.ts';
import { facet } from '../../../../log/facet.ts';
import { draftOf, plainTexts, randomOf } from '../../../../log/log.fixture.ts';
import type { Log, Selection, StoredEncoding } from '../../../../log/log.ts';
import { ResumableText, selectedTexts } from '../../../../log/resumable-text.ts';
import { untilSearchable } from '../../../../search/search.fixture.ts';
import { openSqliteLog } from '../../store.ts';
import { SegmentMatches } from '../search/segment-matches.ts';
import { verifyDerived } from '../verify-segments.ts';

const GARDEN: Selection = { facets: [facet('kind', 'garden')], order: 'newest' };
/** Of about a megabyte each; one ends with a stop, and the last entries are in none. */
const CHUNKS = 5;

const DECODERS: Readonly<Record<StoredEncoding, (bytes: Buffer) => Buffer>> = {
  zstd: zstdDecompressSync,
  // Parts of a stream, whose last block is the empty one.
  gzip: (bytes) => inflateRawSync(Buffer.concat([bytes, Buffer.of(3, 0)])),
};

interface Read {
  readonly text: string;
  /** How many of its parts were compressed. */
  readonly compressed: number;
}

async function read(log: Log, encoding: StoredEncoding, wanted: Selection = GARDEN): Promise<Read> {
  const texts: Buffer[] = [];
  let compressed = 0;
  for await (const piece of log.readText(wanted, ',\n', encoding)) {
    if (piece instanceof Uint8Array) {
      texts.push(Buffer.from(piece));
      continue;
    }
    const bytes = Buffer.alloc(piece.length);
    await piece.read(bytes, 0);
    const text = piece.compressed === undefined ? bytes : DECODERS[encoding](bytes);
    if (piece.compressed !== undefined) {
      compressed += 1;
      assert.deepEqual(piece.compressed, { size: text.length, crc: crc32(text) });
    }
    texts.push(text);
  }
  return { text: Buffer.concat(texts).toString(), compressed };
}

async function plainText(log: Log): Promise<string> {
  const pieces = await Array.fromAsync(plainTexts(log, GARDEN, ',\n'), (piece) =>
    Buffer.from(piece),
  );
  return Buffer.concat(pieces).toString();
}

async function readCompressed(log: Log, encoding: StoredEncoding, chunks = CHUNKS): Promise<Read> {
  return await until(
    () => read(log, encoding),
    ({ compressed }) => compressed === chunks,
    () => `Not all chunks are compressed with ${encoding}.`,
  );
}

/** Pauses at random places, where other readers have the read let go of. */
async function readWithPauses(
  log: Log,
  form: StoredEncoding | 'plain',
  random: (bound: number) => number,
): Promise<string> {
  const text = new ResumableText(selectedTexts(log, GARDEN, ',\n', form));
  const parts: { bytes: Buffer; readonly compressed: boolean }[] = [];
  for (let step = await text.next(); step.done !== true; step = await text.next()) {
    const { value } = step;
    const taken = random(2) === 0 ? value.length : random(value.length);
    const bytes = Buffer.alloc(taken);
    if (value instanceof Uint8Array) bytes.set(value.subarray(0, taken));
    else await value.read(bytes, 0);
    const compressed = value instanceof Uint8Array ? undefined : value.compressed;
    const rest = compressed?.size === 0 ? parts.at(-1) : undefined;
    if (rest === undefined) parts.push({ bytes, compressed: compressed !== undefined });
    else rest.bytes = Buffer.concat([rest.bytes, bytes]);
    assert.ok(text.pause(value.length - taken));
    if (random(2) === 0) continue;
    const others = Array.from(
      { length: 3 },
      () => new ResumableText(selectedTexts(log, GARDEN, ',\n', 'plain')),
    );
    for (const other of others) {
      await other.next();
      other.pause(0);
    }
    await Promise.all(others.map((other) => other.return()));
  }
  const decoded = parts.map(({ bytes, compressed }) =>
    compressed && form !== 'plain' ? DECODERS[form](bytes) : bytes,
  );
  return Buffer.concat(decoded).toString();
}

describe('chunks in an encoding', () => {
  let [folder, logId] = ['', ''];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'presence-'));
    const drafts = Array.from({ length: 4500 }, (_, at) => {
      const text = `"text":"${randomBytes(500).toString('hex')}`;
      if (at % 9 === 0)
        return draftOf({ body: `${text}${String.raw` \ud83d`}\u2028"`, portability: 'respelled' });
      if (at % 9 === 1) return draftOf({ body: `${text}","n":1e999`, portability: 'omitted' });
      return draftOf({ body: `${text}"` });
    }).flatMap((draft) => [draft, draftOf({ kind: 'seeds', body: '"text":"between"' })]);
    for (const some of [drafts.slice(0, -10), drafts.slice(-10)]) {
      await using log = await openSqliteLog({ folder });
      logId = log.id;
      await Promise.all(some.map((draft) => log.append(draft)));
      await untilSearchable(log);
    }
  });
  after(() => rm(folder, { recursive: true, force: true }));

  for (const encoding of ['zstd', 'gzip'] as const) {
    const file = async (): Promise<string> => {
      const chunks = join(folder, 'segments', '000000', 'chunks');
      const names = (await readdir(chunks)).filter((name) => name.endsWith(`.${encoding}`));
      return join(chunks, names[0] ?? assert.fail());
    };

    it(`are made with ${encoding} once a reader has missed them, and decode to the same text`, async () => {
      await using log = await openSqliteLog({ folder });
      const text = await plainText(log);
      const first = await read(log, encoding);
      assert.deepEqual(first, { text, compressed: 0 });
      const again = await readCompressed(log, encoding);
      assert.equal(again.text, text);
      // The first of a reading has no joiner.
      const [, last = ''] = /"seq":(\d+)/.exec(text.slice(text.length / 2)) ?? [];
      const part = await read(log, encoding, { ...GARDEN, before: Number(last) });
      assert.ok(text.endsWith(part.text));
      assert.ok(part.compressed > 0);
    });

    it(`are found by a start with ${encoding}, and verified`, async () => {
      {
        await using log = await openSqliteLog({ folder });
        assert.equal((await read(log, encoding)).compressed, CHUNKS);
      }
      const path = await file();
      const bytes = await readFile(path);
      const spoiled = Buffer.from(bytes);
      spoiled[1000] = (spoiled[1000] ?? 0) ^ 1;
      await writeFile(path, spoiled);
      const faults = await derivedFaults(folder, logId);
      assert.equal(faults.length, 1);
      assert.match(
        faults[0] ?? '',
        new RegExp(`^segments/000000/chunks/garden-\\d+\\.${encoding}: has other bytes`),
      );
      await writeFile(path, bytes);
      assert.deepEqual(await derivedFaults(folder, logId), []);
    });

    it(`are made again where the file of ${encoding} has changed or is too short`, async () => {
      {
        await using log = await openSqliteLog({ folder });
        const { text } = await readCompressed(log, encoding);
        const path = await file();
        const spoiled = await readFile(path);
        spoiled[1000] = (spoiled[1000] ?? 0) ^ 1;
        await writeFile(path, spoiled);
        assert.deepEqual(await read(log, encoding), { text, compressed: CHUNKS - 1 });
        assert.equal((await readCompressed(log, encoding)).text, text);
      }
      await truncate(await file(), 5000);
      await using log = await openSqliteLog({ folder });
      assert.equal((await read(log, encoding)).compressed, CHUNKS - 1);
      assert.equal((await readCompressed(log, encoding)).text, await plainText(log));
    });
  }

  it('have entries in their portable form, also where the index was made again', async () => {
    await rm(join(folder, 'segments'), { recursive: true });
    await using log = await openSqliteLog({ folder });
    await untilSearchable(log);
    const entries = await Array.fromAsync(
      log.readEntries(GARDEN),
      ({ text }) => text ?? assert.fail(),
    );
    const text = entries.map((entry) => Buffer.from(entry).toString()).join(',\n');
    assert.doesNotMatch(text, /\\ud83d|"n":1e999/);
    assert.match(text, /\\ufffd.*"omitted":/s);
    assert.equal(await plainText(log), text);
    // The last one goes on.
    for (const encoding of ['zstd', 'gzip'] as const)
      assert.equal((await readCompressed(log, encoding, CHUNKS - 1)).text, text);
  });

  it('are read without looking for the entries that they have', async () => {
    await using log = await openSqliteLog({ folder });
    await readCompressed(log, 'zstd');
    const found = mock.method(SegmentMatches.prototype, 'page');
    assert.equal((await read(log, 'zstd')).compressed, CHUNKS);
    // For the newest entries, and for those after a chunk that a stop has ended.
    assert.ok(found.mock.callCount() <= 4, `${found.mock.callCount()} pages`);
    mock.restoreAll();
  });

  it('go on where a reader has paused', async () => {
    await using log = await openSqliteLog({ folder });
    for (const encoding of ['zstd', 'gzip'] as const) await readCompressed(log, encoding);
    const text = await plainText(log);
    const random = randomOf(1);
    for (const form of ['plain', 'zstd', 'gzip'] as const)
      for (let times = 0; times < 5; times += 1)
        assert.ok((await readWithPauses(log, form, random)) === text, form);
  });
});

async function derivedFaults(folder: string, logId: string): Promise<string[]> {
  const faults = await Array.fromAsync(verifyDerived(folder, logId));
  return faults.map(({ file, description }) => `${file}: ${description}`);
}
