/** The log with its links, as PROTOCOL.md section 20 defines both. Links are computed here from that text. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';

import type { ChainRange, Log } from '../../packages/gateway/src/log/log.ts';
import { bodyOf } from '../../packages/gateway/src/log/log.fixture.ts';
import { CheckedLog } from './checked-log.ts';
import { assertSameBytes, collect, type Open } from './fixtures.ts';

interface ChainLine {
  readonly link: string;
  readonly salt: string;
  readonly key: string | undefined;
  /** The entry as it was printed. */
  readonly entry: Buffer;
}

const FIRST_LINK = '0'.repeat(64);

export function describeChain(open: Open): void {
  describe('the chain', () => {
    it('is read with the bytes of each entry, and every link holds', async () => {
      await using opened = await open();
      const checked = new CheckedLog(opened.log);
      await fillLog(checked);
      const lines = await readLines(opened.log, {});
      assert.equal(lines.length, checked.entries.length);
      for (const [at, { entry }] of lines.entries()) {
        assertSameBytes(entry, checked.entries[at]?.text ?? assert.fail(), `line ${at + 1}`);
      }
      assertLinked(lines, FIRST_LINK);
      assert.equal(new Set(lines.map(({ salt }) => salt)).size, lines.length);
      assert.equal(lines.filter(({ key }) => key !== undefined).length, 44);
      for (const [at, { link }] of lines.entries()) assert.equal(opened.log.linkAt(at + 1), link);
    });

    it('begins after any entry and ends before any other, or after a number of them', async () => {
      await using opened = await open();
      const { log } = opened;
      const checked = new CheckedLog(log);
      await fillLog(checked);
      const all = await readLines(log, {});
      const count = all.length;
      const ranges: ChainRange[] = [
        { after: 0, limit: 0 },
        { after: 1, limit: 1 },
        { after: 99, before: 121 },
        { after: 50, before: 100, limit: 10 },
        { after: count - 1 },
        { after: count },
        { after: 0, before: 1 },
      ];
      for (const range of ranges) {
        const { after = 0, before = Infinity, limit = Infinity } = range;
        const end = Math.min(count, before - 1);
        const expected = all.slice(after, Math.min(end, after + limit));
        const { items, end: told } = await collect(log.readChain(range));
        const lines = linesIn(Buffer.concat(items));
        assert.deepEqual(lines, expected);
        assertLinked(lines, log.linkAt(after));
        const last = expected.length > 0 ? after + expected.length : undefined;
        assert.deepEqual(told, { last, more: after + expected.length < end });
      }
    });

    it('has nothing that was appended after it was asked for', async () => {
      await using opened = await open();
      const checked = new CheckedLog(opened.log);
      await checked.appendAll(Array.from({ length: 20 }, () => ({})));
      const reading = opened.log.readChain({});
      await checked.appendAll(Array.from({ length: 20 }, () => ({})));
      const { items } = await collect(reading);
      assert.equal(linesIn(Buffer.concat(items)).length, 20);
    });

    it('of an empty log has no entry, and the link before the first', async () => {
      await using opened = await open();
      const { items, end } = await collect(opened.log.readChain({}));
      assert.deepEqual([Buffer.concat(items).length, end], [0, { last: undefined, more: false }]);
      assert.equal(opened.log.linkAt(0), FIRST_LINK);
    });

    it('goes on where a reading was at, as one that was not interrupted', async () => {
      await using opened = await open();
      const { log } = opened;
      await fillLog(new CheckedLog(log));
      const whole = Buffer.concat((await collect(log.readChain({}))).items);
      const read = log.readChain({});
      let before = 0;
      let at = 0;
      for (let step = await read.next(); step.done !== true; step = await read.next()) {
        const position = read.position?.();
        if (position?.last !== before && position !== undefined) {
          const again = log.readChain({ after: position.last ?? 0, limit: position.left });
          const { items } = await collect(again);
          assertSameBytes(Buffer.concat(items), whole.subarray(at), `from ${position.last}`);
          before = position.last ?? 0;
        }
        at += step.value.length;
      }
      assert.equal(at, whole.length);
    });
  });
}

/** Entries of all sizes, with keys and without, one with no members. */
async function fillLog(checked: CheckedLog): Promise<void> {
  const small = Array.from({ length: 120 }, (_, at) => ({
    body: at === 7 ? '' : bodyOf(20 + ((at * 37) % 900), at),
    ...(at % 3 === 0 ? { key: `key ${at}` } : {}),
  }));
  await checked.appendAll(small.slice(0, 60));
  await checked.appendSpooled({ body: bodyOf(300_000, 1), key: 'large' });
  await checked.appendSpooled({ body: '' });
  await checked.appendAll(small.slice(60));
  await checked.appendSpooled({ body: bodyOf(100_000, 2), key: 'larger' });
  const more = Array.from({ length: 1500 }, (_, at) => ({ body: bodyOf(30, at) }));
  await checked.appendAll([...more, { key: 'last' }, { key: 'newest' }]);
}

async function readLines(log: Log, range: ChainRange): Promise<ChainLine[]> {
  const { items } = await collect(log.readChain(range));
  return linesIn(Buffer.concat(items));
}

function linesIn(bytes: Buffer): ChainLine[] {
  const lines: ChainLine[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf('\n', at);
    assert.notEqual(end, -1, 'a line has no end');
    lines.push(parseLine(bytes.subarray(at, end)));
    at = end + 1;
  }
  return lines;
}

const OPENING =
  /^\{"link":"([\da-f]{64})","salt":"([\da-f]{32})"(?:,"key":"([\da-f]{64})")?,"entry":$/;

function parseLine(line: Buffer): ChainLine {
  const entryStart = line.indexOf('"entry":') + 8;
  const found = OPENING.exec(line.toString('latin1', 0, entryStart)) ?? assert.fail();
  const [, link = '', salt = '', key] = found;
  assert.equal(line.at(-1), 0x7d);
  return { link, salt, key, entry: line.subarray(entryStart, -1) };
}

function assertLinked(lines: readonly ChainLine[], first: string): void {
  let previous = first;
  for (const { link, salt, key, entry } of lines) {
    const own = /^.*?"timestamp":"[^"]*"/.exec(entry.toString())?.[0] ?? assert.fail();
    const body = entry.subarray(own.length + 1, -1);
    const digest = sha256(Buffer.from(salt, 'hex'), sha256(body));
    const parts = [Buffer.from(previous, 'hex'), own, digest, Buffer.from(key ?? '', 'hex')];
    assert.equal(sha256(...parts).toString('hex'), link, own);
    previous = link;
  }
}

function sha256(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}
