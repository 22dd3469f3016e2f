/** Spools: bodies that come in pieces. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { facet } from '../../packages/gateway/src/log/facet.ts';
import {
  bodyOf,
  cut,
  draftOf,
  fill,
  randomOf,
} from '../../packages/gateway/src/log/log.fixture.ts';
import { assertSameBytes, type Open, join } from './fixtures.ts';
import { CheckedLog } from './checked-log.ts';

const MIB = 1_048_576;
/** The most that a piece of a long text may take, so that memory stays flat. */
const LARGEST_PIECE = 4 * MIB;

export function describeSpooling(open: Open): void {
  describe('a spool', () => {
    describeBodies(open);
    describeBuffers(open);
    describeDisposal(open);
  });
}

function describeBodies(open: Open): void {
  for (const mebibytes of [3, 20]) {
    it(`gives ${mebibytes} MiB in random pieces back byte for byte, among small entries`, async () => {
      await using opened = await open();
      const checked = new CheckedLog(opened.log);
      const members = { to: ['long'] };
      await checked.appendAll([{ members }, {}, { members }]);
      const body = bodyOf(mebibytes * MIB, mebibytes);
      const { seq } = await checked.appendSpooled({ body, members }, 300_000);
      await checked.appendAll([{ members }, {}, { members }]);
      const entry = await opened.log.entry(seq);
      assert.ok(entry !== undefined);
      for await (const piece of entry.chunks()) assert.ok(piece.length <= LARGEST_PIECE);
      if (mebibytes === 20) assert.equal(entry.text, undefined);
      await checked.checkAll();
      for (const order of ['newest', 'oldest'] as const) {
        await checked.check({ order, facets: [facet('to', 'long')] });
        await checked.check({ order, after: 2, before: 6, limit: 2 });
      }
    });
  }

  it('takes a body of any size, in any pieces', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    const lines = [65_536, 262_144, 524_288, MIB, 2 * MIB];
    const around = lines.flatMap((line) => [line - 1, line, line + 1]);
    for (const size of [0, 1, 2, 100, ...around]) {
      await checked.appendSpooled({ body: bodyOf(size, size) }, size);
      await checked.append();
    }
    for (const size of lines.slice(0, 4)) {
      await checked.appendSpooled({ body: bodyOf(2 * MIB, size) }, size);
    }
    await checked.appendSpooled({ body: bodyOf(3000, 1) }, 2);
    await checked.checkAll();
  });

  it('may be cut in the middle of a character', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    await checked.appendSpooled({ body: `"text":"${'їЖ漢🌱é'.repeat(500)}"` }, 3);
    await checked.appendSpooled({ body: `"text":"${'їЖ漢🌱é'.repeat(50_000)}"` }, 10_001);
    await checked.checkAll();
  });

  it('fills beside others, while entries are appended', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    const long = Array.from({ length: 12 }, (_, at) =>
      checked.appendSpooled({ body: bodyOf(700_000 + at, at), members: { to: ['long'] } }, 20_000),
    );
    for (let at = 0; at < 100; at++) await checked.append({ members: { to: ['short'] } });
    await Promise.all(long);
    await checked.checkAll();
    await checked.check({ facets: [facet('to', 'long')] });
  });
}

function describeBuffers(open: Open): void {
  it('lets the caller use the buffers again once it has resolved', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    const draft = draftOf({ body: bodyOf(300_000, 1) });
    await using spool = opened.log.spool();
    const bytes = new Uint8Array(100_000);
    for (let at = 0; at < draft.body.length; at += bytes.length) {
      bytes.set(draft.body.subarray(at, at + bytes.length));
      await spool.write(bytes);
    }
    bytes.fill(0);
    checked.remember(draft, await opened.log.append({ ...draft, body: spool }));
    await checked.checkAll();
  });
}

function describeDisposal(open: Open): void {
  it('that is disposed of before it is appended leaves nothing', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    await checked.append();
    for (const size of [0, 10, 100_000, 3 * MIB]) {
      await using kept = opened.log.spool();
      const body = bodyOf(size, size);
      await fill(kept, cut(body, 50_000, randomOf(1)));
      await using spool = opened.log.spool();
      await fill(spool, cut(bodyOf(size, size + 1), 50_000, randomOf(1)));
      await spool[Symbol.asyncDispose]();
      await spool[Symbol.asyncDispose]();
      const draft = draftOf({ body });
      checked.remember(draft, await opened.log.append({ ...draft, body: kept }));
      await checked.append();
    }
    await checked.checkAll();
  });

  it('that is disposed of after it was appended does nothing', async () => {
    await using opened = await open();
    const checked = new CheckedLog(opened.log);
    const draft = draftOf({ body: bodyOf(500_000, 1), members: { to: ['kept'] } });
    const spool = opened.log.spool();
    await fill(spool, cut(draft.body, 50_000, randomOf(1)));
    const metadata = checked.remember(draft, await opened.log.append({ ...draft, body: spool }));
    await spool[Symbol.asyncDispose]();
    await spool[Symbol.asyncDispose]();
    const entry = await opened.log.entry(metadata.seq);
    assert.ok(entry !== undefined);
    const text = await join(entry.chunks());
    assertSameBytes(text, checked.entries[0]?.text ?? assert.fail(), 'the text');
    for (const from of [1, 100, 250_000, text.length - 1, text.length]) {
      assertSameBytes(await join(entry.chunks(from)), text.subarray(from), `from ${from} on`);
    }
    await checked.check({ facets: [facet('to', 'kept')] });
    await checked.append();
    await checked.checkAll();
  });
}
