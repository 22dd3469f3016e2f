import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { crc32, zstdDecompressSync } from 'node:zlib';

import { until } from '../../../../../conformance/until.ts';
import { facet } from '../../log/facet.ts';
import { draftOf, randomOf } from '../../log/log.fixture.ts';
import type { Log, Selection, StoredEncoding } from '../../log/log.ts';
import { ResumableText, selectedTexts } from '../../log/resumable-text.ts';
import { openSqliteLog } from '../store.ts';
import { inflated } from './frames.ts';
import { verifyDerived } from './verify-index.ts';

const GARDEN: Selection = { facets: [facet('kind', 'garden')], order: 'newest' };
const FRAMES = 4;

const DECODERS: Readonly<Record<StoredEncoding, (bytes: Buffer) => Buffer>> = {
  zstd: zstdDecompressSync,
  gzip: inflated,
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
    for (let at = 0; at < bytes.length; at += 100_000)
      await piece.read(bytes.subarray(at, at + 100_000), at);
    const text = DECODERS[encoding](bytes);
    assert.deepEqual(piece.compressed, { size: text.length, crc: crc32(text) });
    compressed += 1;
    texts.push(text);
  }
  return { text: Buffer.concat(texts).toString(), compressed };
}

/** The same as rows have it: the other order is in no frame. */
async function textOfRows(log: Log): Promise<string> {
  const entries = log.readEntries({ ...GARDEN, order: 'oldest' });
  const texts = await Array.fromAsync(entries, ({ text }) => Buffer.from(text ?? '').toString());
  return texts.toReversed().join(',\n');
}

async function readPlain(log: Log): Promise<string> {
  const pieces = log.readText(GARDEN, ',\n');
  return Buffer.concat(await Array.fromAsync(pieces, (piece) => Buffer.from(piece))).toString();
}

async function readCompressed(log: Log, encoding: StoredEncoding): Promise<Read> {
  return await until(
    () => read(log, encoding),
    ({ compressed }) => compressed === FRAMES,
    ({ compressed }) => `${compressed} frames are compressed with ${encoding}.`,
  );
}

/** Pauses at random places, where other readers have the read let go of. */
async function readWithPauses(
  log: Log,
  encoding: StoredEncoding | undefined,
  random: (bound: number) => number,
): Promise<string> {
  const text = new ResumableText(selectedTexts(log, GARDEN, ',\n', encoding));
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
      () => new ResumableText(selectedTexts(log, GARDEN, ',\n', undefined)),
    );
    for (const other of others) {
      await other.next();
      other.pause(0);
    }
    await Promise.all(others.map((other) => other.return()));
  }
  const decoded = parts.map(({ bytes, compressed }) =>
    compressed && encoding !== undefined ? DECODERS[encoding](bytes) : bytes,
  );
  return Buffer.concat(decoded).toString();
}

describe('frames', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'presence-'));
    await using log = await openSqliteLog({ folder });
    const drafts = Array.from({ length: 4500 }, (_, at) => {
      const text = `"text":"${randomBytes(500).toString('hex')}`;
      if (at % 9 === 0)
        return draftOf({ body: `${text}${String.raw` \ud83d`}\u2028"`, portability: 'respelled' });
      if (at % 9 === 1) return draftOf({ body: `${text}","n":1e999`, portability: 'omitted' });
      return draftOf({ body: `${text}"` });
    }).flatMap((draft) => [draft, draftOf({ kind: 'seeds', body: '"text":"between"' })]);
    await Promise.all(drafts.map((draft) => log.append(draft)));
    await readCompressed(log, 'zstd');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  for (const encoding of ['zstd', 'gzip'] as const)
    it(`are read in ${encoding} and plain as the rows are, and where a reader has paused`, async () => {
      await using log = await openSqliteLog({ folder });
      const text = await textOfRows(log);
      assert.match(text, /\\ufffd.*"omitted":/s);
      assert.deepEqual(await read(log, encoding), { text, compressed: FRAMES });
      assert.ok((await readPlain(log)) === text);
      // The first of a reading has no joiner.
      const [, last = ''] = /"seq":(\d+)/.exec(text.slice(text.length / 2)) ?? [];
      const part = await read(log, encoding, { ...GARDEN, before: Number(last) });
      assert.ok(text.endsWith(part.text));
      assert.ok(part.compressed > 0);
      const random = randomOf(1);
      for (const form of [undefined, encoding])
        for (let times = 0; times < 5; times += 1)
          assert.ok((await readWithPauses(log, form, random)) === text, form);
    });

  it('are made again without entries that are withheld, at either end too, and with those that are shown again', async () => {
    await using log = await openSqliteLog({ folder });
    const [, seq = ''] = /"seq":(\d+)/.exec((await readPlain(log)).slice(2_000_000)) ?? [];
    using index = new DatabaseSync(join(folder, 'index.sqlite'), { readOnly: true });
    const ENDS =
      "SELECT first, last FROM frames WHERE kind = 'garden' AND ? BETWEEN first AND last";
    const { first, last } = index.prepare(ENDS).get(Number(seq)) ?? {};
    const seqs = [Number(first), Number(seq), Number(last)];
    for (const state of ['hidden', 'shown', 'withheld'] as const) {
      assert.equal(await log.withhold(seqs, 'spam', state), seqs.length);
      const text = await textOfRows(log);
      assert.equal((await read(log, 'zstd')).text, text);
      assert.equal((await readCompressed(log, 'gzip')).text, text);
    }
  });

  it('are compared with the entries by a verification', async () => {
    const verify = async (): Promise<unknown> => await Array.fromAsync(verifyDerived(folder));
    assert.deepEqual(await verify(), []);
    using index = new DatabaseSync(join(folder, 'index.sqlite'));
    const { number = 0, gzip } =
      index.prepare('SELECT number, gzip FROM frames LIMIT 1').get() ?? {};
    const changed = Buffer.from(gzip as Uint8Array);
    changed[5000] = (changed[5000] ?? 0) ^ 1;
    index.prepare('UPDATE frames SET gzip = ? WHERE number = ?').run(changed, number);
    assert.match(JSON.stringify(await verify()), /^\[.*has another text than the entries \d+ to/);
  });

  it('are made again with the index', async () => {
    await rm(join(folder, 'index.sqlite'));
    await using log = await openSqliteLog({ folder });
    const text = await textOfRows(log);
    for (const encoding of ['zstd', 'gzip'] as const)
      assert.equal((await readCompressed(log, encoding)).text, text);
  });
});
