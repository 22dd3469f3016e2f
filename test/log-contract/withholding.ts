/** What a visitor said is taken away (PROTOCOL.md section 4.7): nothing of it is read or found any more. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';

import { facet } from '../../packages/gateway/src/log/facet.ts';
import { bodyOf, draftOf, ROOMS } from '../../packages/gateway/src/log/log.fixture.ts';
import type { Log } from '../../packages/gateway/src/log/log.ts';
import {
  bestSeqs,
  seqsFound,
  textQuery,
  untilSearchable,
} from '../../packages/gateway/src/search/search.fixture.ts';
import { CheckedLog } from './checked-log.ts';
import { collect, type Open, type Reopenable } from './fixtures.ts';

/** Said by nobody else. */
const NAME = 'Zerafina';
const WORD = 'quixotry';

function spam(at: number): { body: string; members: { identity: string[] }; key: string } {
  const body = `"identity":"${NAME}","text":"${WORD} ${at}"`;
  return { body, members: { identity: [NAME] }, key: `spam ${at}` };
}

/** Small entries with others between them, a large one, and one without members. */
async function filled(log: Log): Promise<CheckedLog> {
  const checked = new CheckedLog(log);
  for (let at = 0; at < 5; at += 1) {
    await checked.appendAll(Array.from({ length: 7 }, () => ({ room: ROOMS[at % 3] ?? ROOMS[0] })));
    await checked.append(spam(at));
  }
  const text = `${WORD} `.repeat(40_000);
  const body = `"identity":"${NAME}","text":"${text}"`;
  await checked.appendSpooled({ body, members: { identity: [NAME] }, key: 'large' });
  await checked.append({ body: '' });
  await checked.appendAll(Array.from({ length: 20 }, () => ({})));
  return checked;
}

const SPAM = [8, 16, 24, 32, 40, 41, 42];

async function assertGone(log: Log): Promise<void> {
  const identity = [facet('identity', NAME)];
  const found = await collect(log.readEntries({ facets: identity, order: 'newest' }));
  assert.deepEqual(found.items, []);
  await untilSearchable(log);
  assert.deepEqual(await seqsFound(log, { textQuery: textQuery(WORD) }), []);
  assert.deepEqual(await bestSeqs(log, textQuery(WORD)), []);
  const chain = Buffer.concat((await collect(log.readChain({}))).items);
  assert.equal(chain.indexOf(WORD), -1);
}

export function describeWithholding(open: Open): void {
  describe('an entry that is withheld', () => {
    it('keeps its place, and nothing of what was said in it is read or found', async () => {
      await using opened = await open();
      const { log } = opened;
      const checked = await filled(log);
      assert.equal(await checked.withhold(SPAM), SPAM.length);
      await checked.checkAll();
      await checked.checkCounts([1, 10, 40, log.head() + 1]);
      for (const kind of ['garden', 'seeds'] as const)
        for (const withheld of [{}, { withheld: 'include' }] as const)
          await checked.check({ facets: [facet('kind', kind)], ...withheld });
      await assertGone(log);
      const entry = await log.entry(41);
      assert.equal(entry?.withheld?.reason, 'spam');
    });

    it('is listed once, in the order of its withholding, and every watcher hears of it', async () => {
      await using opened = await open();
      const { log } = opened;
      const checked = await filled(log);
      const heard = new Promise<void>((resolve) => {
        const watching = log.watch(() => {
          if (log.withheld() === 0) return;
          watching[Symbol.dispose]();
          resolve();
        });
      });
      assert.equal(await checked.withhold([16], 'first'), 1);
      await heard;
      assert.equal(await checked.withhold([8, 16, 24], 'second "reason"'), 2);
      assert.equal(await checked.withhold([8, 16, 24], 'third'), 0);
      assert.equal(log.withheld(), 3);
      const read = async (range: Parameters<Log['withholdings']>[0]): Promise<unknown[]> =>
        await Array.fromAsync(log.withholdings(range), ({ number, metadata, reason }) => [
          number,
          metadata.seq,
          reason,
        ]);
      const all = [
        [1, 16, 'first'],
        [2, 8, 'second "reason"'],
        [3, 24, 'second "reason"'],
      ];
      assert.deepEqual(await read({ order: 'oldest' }), all);
      assert.deepEqual(await read({ order: 'newest' }), all.toReversed());
      assert.deepEqual(await read({ order: 'newest', limit: 1 }), all.slice(2));
      assert.deepEqual(await read({ order: 'oldest', after: 1, before: 3 }), all.slice(1, 2));
      await checked.checkAll();
    });

    it('is not brought back by a retry, which is answered as before', async () => {
      await using opened = await open();
      const { log } = opened;
      const checked = await filled(log);
      await checked.withhold(SPAM);
      const again = await log.append(draftOf(spam(0)));
      assert.deepEqual(again, { outcome: 'repeated', metadata: checked.entries[7]?.metadata });
      const large = await log.append(draftOf({ key: 'large', body: bodyOf(50, 1) }));
      assert.deepEqual(large, { outcome: 'repeated', metadata: checked.entries[40]?.metadata });
      const other = await log.append(draftOf({ ...spam(0), kind: 'seeds' }));
      assert.equal(other.outcome, 'conflict');
      await checked.append();
      await checked.checkAll();
    });

    it('leaves the chain whole, with its digest in place of its salt', async () => {
      await using opened = await open();
      const { log } = opened;
      const checked = await filled(log);
      const links = checked.entries.map(({ metadata }) => log.linkAt(metadata.seq));
      await checked.withhold(SPAM);
      const lines = Buffer.concat((await collect(log.readChain({}))).items)
        .toString()
        .split('\n');
      let previous = Buffer.alloc(32);
      for (const [at, line] of lines.slice(0, -1).entries()) {
        const [link, salt, digest, key] = ['link', 'salt', 'digest', 'key'].map(
          (name) =>
            new RegExp(`"${name}":"([0-9a-f]*)"`).exec(line.split('"entry":')[0] ?? '')?.[1],
        );
        assert.equal(link, links[at]);
        assert.equal(salt === undefined, SPAM.includes(at + 1));
        const entry = line.slice(line.indexOf('"entry":') + 8, -1);
        const own = /^.*?"timestamp":"[^"]*"/.exec(entry)?.[0] ?? assert.fail();
        const body = entry.slice(own.length + 1, -1);
        const proof = digest ?? hex(sha256(Buffer.from(salt ?? '', 'hex'), sha256(body)));
        const parts = [Buffer.from(proof, 'hex'), Buffer.from(key ?? '', 'hex')];
        const expected = sha256(previous, own, ...parts);
        assert.equal(link, hex(expected), `entry ${at + 1}`);
        previous = expected;
      }
    });

    it('may be any number of entries at once, while others are appended', async () => {
      await using opened = await open();
      const { log } = opened;
      const checked = new CheckedLog(log);
      await checked.appendAll(Array.from({ length: 3000 }, (_, at) => ({ body: bodyOf(90, at) })));
      const seqs = Array.from({ length: 1500 }, (_, at) => 2 * at + 1);
      const withholding = checked.withhold(seqs);
      await checked.appendAll(Array.from({ length: 500 }, () => ({})));
      assert.equal(await withholding, 1500);
      await checked.checkAll();
    });
  });
}

export function describeHiding(open: Open): void {
  describe('an entry that is hidden', () => {
    it('is given as withheld, found by nothing that it says, and shown again byte for byte', async () => {
      await using opened = await open();
      const { log } = opened;
      const checked = await filled(log);
      const texts = await readExact(log, SPAM);
      assert.equal(await checked.withhold(SPAM, 'a flood', 'hidden'), SPAM.length);
      assert.equal(await checked.withhold(SPAM, 'again', 'hidden'), 0);
      await checked.checkAll();
      await assertGone(log);
      assert.deepEqual(await readExact(log, SPAM, 'hidden'), texts);
      const entry = await log.entry(8);
      assert.equal(entry?.withheld?.state, 'hidden');
      assert.equal(await checked.withhold([8, 41], 'an appeal', 'shown'), 2);
      await checked.checkAll();
      await untilSearchable(log);
      assert.deepEqual(
        new Set(await seqsFound(log, { textQuery: textQuery(WORD) })),
        new Set([8, 41]),
      );
      const facets = [facet('identity', NAME)];
      const { items } = await collect(log.readEntries({ facets, order: 'oldest' }));
      assert.deepEqual(
        items.map(({ metadata }) => metadata.seq),
        [8, 41],
      );
      assert.deepEqual(await readExact(log, [8, 41]), [texts[0], texts[5]]);
    });

    it('can be destroyed, and what was destroyed or never hidden cannot be shown', async () => {
      await using opened = await open();
      const { log } = opened;
      const checked = await filled(log);
      await checked.withhold([8, 41], 'a flood', 'hidden');
      assert.equal(await checked.withhold([8, 41, 16], 'it was one', 'withheld'), 3);
      assert.equal(await checked.withhold([8, 41, 16, 1], 'an appeal', 'shown'), 0);
      assert.equal(await checked.withhold([8, 41], 'again', 'hidden'), 0);
      await checked.checkAll();
      assert.equal((await log.entry(8))?.withheld?.state, 'withheld');
      const [gone] = await readExact(log, [8], 'hidden');
      assert.equal(gone?.includes(WORD), false);
      const cases = await Array.fromAsync(log.withholdings({ order: 'oldest' }));
      assert.deepEqual(
        cases.map(({ number, metadata, state }) => [number, metadata.seq, state]),
        [
          [1, 8, 'hidden'],
          [2, 41, 'hidden'],
          [3, 8, 'withheld'],
          [4, 41, 'withheld'],
          [5, 16, 'withheld'],
        ],
      );
    });
  });
}

async function readExact(
  log: Log,
  seqs: readonly number[],
  form: 'exact' | 'hidden' = 'exact',
): Promise<string[]> {
  return await Promise.all(
    seqs.map(async (seq) => {
      const entry = (await log.entry(seq, form)) ?? assert.fail(`no entry ${seq}`);
      return Buffer.concat(
        await Array.fromAsync(entry.chunks(), (chunk) => Buffer.from(chunk)),
      ).toString();
    }),
  );
}

export function describeLastingWithholding(open: () => Promise<Reopenable>): void {
  it('withheld entries stay withheld', async () => {
    await using opened = await open();
    const checked = await filled(opened.log);
    await checked.withhold(SPAM);
    checked.log = await opened.reopen();
    assert.equal(checked.log.withheld(), SPAM.length);
    await checked.checkAll();
    await assertGone(checked.log);
    await checked.withhold([1, 2]);
    await checked.checkAll();
  });

  it('hidden entries stay hidden, and can be shown', async () => {
    await using opened = await open();
    const checked = await filled(opened.log);
    await checked.withhold(SPAM, 'a flood', 'hidden');
    checked.log = await opened.reopen();
    await checked.checkAll();
    await assertGone(checked.log);
    await checked.withhold(SPAM, 'an appeal', 'shown');
    await checked.checkAll();
    checked.log = await opened.reopen();
    await checked.checkAll();
  });
}

function sha256(...parts: readonly (string | Uint8Array)[]): Buffer<ArrayBuffer> {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
