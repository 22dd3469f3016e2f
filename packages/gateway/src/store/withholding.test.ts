/** The text of a withheld entry is in no file of the folder, and in no read that goes on. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { filesIn } from '../../../../test/files-with.ts';
import { facet } from '../log/facet.ts';
import { draftOf, fill, randomOf, metadataOf } from '../log/log.fixture.ts';
import type { Log, Seq, StoredText } from '../log/log.ts';
import {
  chainLines,
  type ResumableRead,
  ResumableText,
  selectedTexts,
} from '../log/resumable-text.ts';
import { textQuery, seqsFound, untilSearchable } from '../search/search.fixture.ts';
import { verifyLog } from './log/verify.ts';
import { openSqliteLog } from './store.ts';

/** No other word begins as these do. */
const WORD = 'quixotry';
const NAME = 'Zerafina';
const GARDEN = { facets: [facet('kind', 'garden')], order: 'newest' } as const;
const NEEDLES = [
  ['word', Buffer.from(WORD)],
  ['name', Buffer.from(NAME)],
  ['name in lower case', Buffer.from(NAME.toLowerCase())],
  ['facet of the name', Buffer.from(facet('identity', NAME))],
  ['its digits', Buffer.from(Buffer.from(facet('identity', NAME)).toString('hex'))],
] as const;

type Needles = readonly (readonly [name: string, bytes: Buffer])[];

async function needlesFound(folder: string, needles: Needles): Promise<string[]> {
  const found: string[] = [];
  for await (const [name, bytes] of filesIn(folder))
    for (const [needle, wanted] of needles)
      if (bytes.includes(wanted)) found.push(`${needle} in ${name}`);
  return found;
}

async function say(log: Log, text: string): Promise<Seq> {
  const body = `"identity":"${NAME}","text":"${text}"`;
  return metadataOf(await log.append(draftOf({ body, members: { identity: [NAME] } }))).seq;
}

async function sayLarge(log: Log, text: string): Promise<Seq> {
  await using spool = log.spool();
  await fill(spool, [Buffer.from(`"identity":"${NAME}","text":"${text}"`)]);
  const draft = draftOf({ members: { identity: [NAME] } });
  return metadataOf(await log.append({ ...draft, body: spool })).seq;
}

async function sayMuch(log: Log, count: number): Promise<void> {
  const text = (): string => randomBytes(500).toString('hex');
  const drafts = Array.from({ length: count }, () => draftOf({ body: `"text":"${text()}"` }));
  await Promise.all(drafts.map((draft) => log.append(draft)));
}

async function faultsIn(folder: string): Promise<unknown[]> {
  const faults: unknown[] = [];
  for await (const event of verifyLog(folder)) if (event.type === 'fault') faults.push(event);
  return faults;
}

/** Kills a process that withholds: `delay` ms after it was asked, or after its answer if that is undefined. */
async function killAfter(
  delay: number | undefined,
  folder: string,
  args: readonly string[],
): Promise<void> {
  const module = new URL('./withholding-process.fixture.ts', import.meta.url);
  const child = fork(module, [folder, ...args]);
  await once(child, 'message');
  child.send('withhold');
  await (delay === undefined ? once(child, 'message') : sleep(delay));
  child.kill('SIGKILL');
  if (child.signalCode === null && child.exitCode === null) await once(child, 'exit');
}

/** Everything that the read gives, until it ends or breaks off. */
async function rest(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  try {
    for await (const chunk of chunks) text += Buffer.from(chunk).toString('latin1');
  } catch {
    // It breaks off.
  }
  return text;
}

/** What is left of the read. */
async function textOf(read: ResumableText): Promise<string> {
  let text = '';
  for (let step = await read.next(); step.done !== true; step = await read.next())
    text += (await bytesOf(step.value, step.value.length)).toString('latin1');
  return text;
}

/** What the read gives until it pauses, at about this size. */
async function beginningOf(read: ResumableText, size: number): Promise<string> {
  let text = '';
  for (let step = await read.next(); step.done !== true; step = await read.next()) {
    const { length } = step.value;
    const sent = Math.min(size - text.length, length);
    text += (await bytesOf(step.value, sent)).toString('latin1');
    if (text.length < size) continue;
    assert.ok(read.pause(length - sent));
    return text;
  }
  throw new Error('The read has ended');
}

async function bytesOf(chunk: Uint8Array | StoredText, size: number): Promise<Buffer> {
  if (chunk instanceof Uint8Array) return Buffer.from(chunk.subarray(0, size));
  const bytes = Buffer.alloc(size);
  const part = 10_000;
  for (let at = 0; at < size; at += part) await chunk.read(bytes.subarray(at, at + part), at);
  return bytes;
}

const PAUSED_READS: Readonly<Record<string, (log: Log) => ResumableRead>> = {
  'a kind': (log) => selectedTexts(log, GARDEN, ',\n', undefined),
  'the newest few': (log) => selectedTexts(log, { ...GARDEN, limit: 240 }, '\n', undefined),
  'the newest': (log) => selectedTexts(log, { ...GARDEN, limit: 1300 }, ',\n', undefined),
  everything: (log) => selectedTexts(log, { facets: [], order: 'oldest' }, '\n', undefined),
  'a name': (log) =>
    selectedTexts(log, { facets: [facet('identity', NAME)], order: 'newest' }, '\n', undefined),
  'the chain': (log) => chainLines(log, { after: 3 }),
};

/** The same lines without commas between them. */
function linesOf(text: string): string[] {
  return text.split(/,?\n/).filter((line) => line !== '');
}

function seqOf(line: string): Seq {
  return Number(/"seq":(\d+)/.exec(line)?.[1]);
}

/** What a paused read must give in all; undefined where it cannot go on. */
function continuedLines(
  sent: string,
  before: readonly string[],
  after: readonly string[],
): readonly string[] | undefined {
  const now = new Map(after.map((line) => [seqOf(line), line]));
  const [partial = ''] = sent.split('\n').slice(-1);
  const whole = linesOf(sent).length - (partial === '' ? 0 : 1);
  const old = before[whole];
  const ended = partial.startsWith(old ?? '\n');
  const next = old === undefined ? undefined : now.get(seqOf(old));
  if (partial !== '' && !ended && next?.startsWith(partial) !== true) return undefined;
  const given = before.slice(0, ended ? whole + 1 : whole);
  const last = given.at(-1);
  const isNewest = seqOf(before[0] ?? '') > seqOf(before[1] ?? '');
  const isLeft = (line: string): boolean =>
    last === undefined || (isNewest ? seqOf(line) < seqOf(last) : seqOf(line) > seqOf(last));
  // A limit counts what is given.
  return [...given, ...after.filter(isLeft).slice(0, before.length - given.length)];
}

describe('a withheld entry', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'presence-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('is in no file of the folder any more, and in no read that goes on', async () => {
    await using log = await openSqliteLog({ folder });
    const seqs = [await say(log, WORD)];
    await sayMuch(log, 400);
    for (let at = 0; at < 3; at += 1) seqs.push(await say(log, `${WORD} ${at}`));
    await sayMuch(log, 800);
    const large = await sayLarge(log, `${WORD} `.repeat(100_000));
    await sayMuch(log, 1200);
    await untilSearchable(log);
    assert.notDeepEqual(await needlesFound(folder, NEEDLES), []);
    const largeChunks = (await log.entry(large))?.chunks()[Symbol.asyncIterator]();
    await largeChunks?.next();
    await largeChunks?.next();
    const paused = new ResumableText(
      selectedTexts(log, { facets: [], order: 'oldest' }, '\n', undefined),
    );
    await paused.next();
    assert.ok(paused.pause(100));

    const unindexed = [await say(log, WORD), await sayLarge(log, `${WORD} `.repeat(20_000))];
    const all = [...seqs, large, ...unindexed];
    assert.equal(await log.withhold(all, 'spam'), all.length);

    assert.deepEqual(await needlesFound(folder, NEEDLES), []);
    const readOn = { [Symbol.asyncIterator]: () => largeChunks ?? assert.fail() };
    assert.ok(!(await rest(readOn)).includes(WORD));
    assert.ok(!(await textOf(paused)).includes(WORD));
    assert.deepEqual(await seqsFound(log, { facets: [facet('identity', NAME)] }), []);
    await untilSearchable(log);
    assert.deepEqual(await seqsFound(log, { textQuery: textQuery(WORD) }), []);
    assert.ok(!(await rest(log.readText(GARDEN, ',\n'))).includes('"withheld":'));
    const included = await rest(log.readText({ ...GARDEN, withheld: 'include' }, ',\n'));
    assert.equal(included.match(/"withheld":/g)?.length, all.length);
    assert.deepEqual(await faultsIn(folder), []);
    assert.deepEqual(await needlesFound(folder, NEEDLES), []);
  });

  for (const state of ['withheld', 'hidden'] as const) {
    it(`is left out of every read that has paused before it is ${state}`, async () => {
      await using ending = new AsyncDisposableStack();
      const paused = await mkdtemp(join(tmpdir(), 'presence-'));
      ending.defer(() => rm(paused, { recursive: true, force: true }));
      await using log = await openSqliteLog({ folder: paused });
      const seqs: Seq[] = [];
      for (let at = 0; at < 500; at += 1) {
        await sayMuch(log, 4);
        seqs.push(await say(log, `${WORD} ${'-'.repeat(900)}`));
      }
      await untilSearchable(log);
      const random = randomOf(7);
      const reads: { name: string; read: ResumableText; sent: string; before: string[] }[] = [];
      for (const [name, source] of Object.entries(PAUSED_READS)) {
        const all = await textOf(new ResumableText(source(log)));
        const before = linesOf(all);
        for (let times = 0; times < 12; times += 1) {
          const read = new ResumableText(source(log));
          const sent = await beginningOf(read, 1 + random(all.length - 2));
          reads.push({ name, read, sent, before });
        }
      }
      const withheld = seqs.filter((_, index) => index % 3 > 0);
      assert.equal(await log.withhold(withheld, 'spam', state), withheld.length);
      const now = new Map<string, string[]>();
      for (const [name, source] of Object.entries(PAUSED_READS))
        now.set(name, linesOf(await textOf(new ResumableText(source(log)))));
      let [goneOn, brokenOff] = [0, 0];
      for (const { name, read, sent, before } of reads) {
        const after = now.get(name) ?? [];
        const wanted = continuedLines(sent, before, after);
        if (wanted === undefined) {
          await assert.rejects(read.next(), { code: 'unavailable' });
          brokenOff += 1;
        } else {
          const text = sent + (await textOf(read));
          assert.deepEqual(linesOf(text), wanted, `${name} after ${sent.length} bytes`);
          goneOn += 1;
        }
      }
      assert.ok(goneOn > reads.length / 2 && brokenOff > 0, `${goneOn} and ${brokenOff}`);
    });
  }

  it('breaks off whoever reads a large one, also if it is only hidden', async () => {
    await using log = await openSqliteLog({ folder });
    const large = await sayLarge(log, `${WORD} `.repeat(100_000));
    const chunks = (await log.entry(large))?.chunks()[Symbol.asyncIterator]();
    for (let read = 0; read < 2; read += 1) await chunks?.next();
    await log.withhold([large], 'spam', 'hidden');
    await assert.rejects(async () => await chunks?.next(), { code: 'unavailable' });
    const hidden = await log.entry(large, 'hidden');
    assert.ok(hidden !== undefined);
    assert.equal((await rest(hidden.chunks())).length, hidden.size);
    await log.withhold([large], 'spam', 'withheld');
    assert.deepEqual(await needlesFound(folder, NEEDLES), []);
  });

  it('is hidden with all others or not, wherever the process is killed, and is shown again', async () => {
    for (const delay of [0, 20, 100, undefined]) {
      const seqs: Seq[] = [];
      {
        await using log = await openSqliteLog({ folder });
        for (let at = 0; at < 20; at += 1) seqs.push(await say(log, `${WORD} ${at}`));
        seqs.push(await sayLarge(log, `${WORD} `.repeat(20_000)));
      }
      await killAfter(delay, folder, ['hidden', ...seqs.map(String)]);
      await using log = await openSqliteLog({ folder });
      const identity = { facets: [facet('identity', NAME)], order: 'oldest' } as const;
      const entries = await Promise.all(seqs.map((seq) => log.entry(seq)));
      const hidden = entries.filter((entry) => entry?.withheld !== undefined);
      assert.ok([0, seqs.length].includes(hidden.length), `${hidden.length} are hidden`);
      assert.deepEqual(await seqsFound(log, identity), hidden.length > 0 ? [] : seqs);
      assert.equal(await log.withhold(seqs, 'an appeal', 'shown'), hidden.length);
      assert.deepEqual(await seqsFound(log, identity), seqs);
      await log.withhold(seqs, 'spam');
    }
    assert.deepEqual(await faultsIn(folder), []);
  });

  it('stays or is withheld with all others, wherever the process is killed', async () => {
    const outcomes = new Set<boolean>();
    // On a slow machine, half a second may pass before anything is withheld. The last kill is after everything
    // is.
    for (const delay of [0, 20, 100, 500, undefined]) {
      const seqs: Seq[] = [];
      {
        await using log = await openSqliteLog({ folder });
        for (let at = 0; at < 20; at += 1) {
          seqs.push(await say(log, `${WORD} ${at}`));
          await sayMuch(log, 3);
        }
        seqs.push(await sayLarge(log, `${WORD} `.repeat(20_000)));
      }
      await killAfter(delay, folder, ['withheld', ...seqs.map(String)]);
      await using log = await openSqliteLog({ folder });
      const entries = await Promise.all(seqs.map((seq) => log.entry(seq)));
      const withheld = entries.filter((entry) => entry?.withheld !== undefined);
      assert.ok([0, seqs.length].includes(withheld.length), `${withheld.length} are withheld`);
      outcomes.add(withheld.length > 0);
      if (withheld.length === 0) {
        const found = await seqsFound(log, { facets: [facet('identity', NAME)], order: 'oldest' });
        assert.deepEqual(found, seqs);
        await log.withhold(seqs, 'spam');
      }
      while ((await needlesFound(folder, NEEDLES)).length > 0) await sleep(20);
      assert.deepEqual(await seqsFound(log, { facets: [facet('identity', NAME)] }), []);
    }
    assert.ok(outcomes.has(true));
    assert.deepEqual(await faultsIn(folder), []);
  });

  it('can be the first of a log, which were moved when its only page was split', async () => {
    const young = join(folder, 'young');
    await using log = await openSqliteLog({ folder: young });
    const seqs: Seq[] = [];
    for (let at = 0; at < 20; at += 1) seqs.push(await say(log, WORD));
    assert.equal(await log.withhold(seqs, 'spam'), seqs.length);
    assert.deepEqual(await needlesFound(young, NEEDLES), []);
  });

  it('can be one whose row has lost its form', async () => {
    const text = `${WORD} unreadable`;
    let seq: Seq;
    {
      await using log = await openSqliteLog({ folder });
      await sayMuch(log, 1);
      seq = await say(log, text);
      await sayMuch(log, 1);
      await untilSearchable(log);
    }
    spoil(folder, seq);
    await using log = await openSqliteLog({ folder });
    const before = log.withheld();
    assert.notDeepEqual(await needlesFound(folder, NEEDLES), []);
    assert.equal(await log.withhold([seq], 'spam'), 1);
    assert.equal(log.withheld(), before + 1);
    assert.deepEqual(await needlesFound(folder, NEEDLES), []);
    assert.equal(await log.withhold([seq], 'spam'), 0);
    assert.notEqual(await log.entry(seq - 1), undefined);
    assert.notEqual(await log.entry(seq + 1), undefined);
  });
});

/** Sets flags in the row of the entry that no row can have. */
function spoil(folder: string, seq: Seq): void {
  using db = new DatabaseSync(join(folder, 'log.sqlite'));
  db.prepare('UPDATE entries SET flags = 255 WHERE seq = ?').run(seq);
}
