import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';

import type { Entry, Log, Selection } from '../log/log.ts';
import { draftOf } from '../log/log.fixture.ts';
import { openMemoryLog } from '../../../../test/support/memory-log/memory-log.ts';
import { SeekingReader } from './seeking.ts';

describe('what visitors seek', () => {
  let log: Log;
  let reader: SeekingReader;
  beforeEach(() => {
    log = openMemoryLog();
    reader = new SeekingReader(log);
  });

  async function contact(identity: string, ...seeking: string[]): Promise<void> {
    const members = { ai_identity: identity, seeking };
    const body = JSON.stringify(members).slice(1, -1);
    await log.append(draftOf({ kind: 'resonance', body, members: { identity: [identity] } }));
  }
  const read = (identity: string): Promise<readonly string[]> => reader.read(identity, log.head());

  it('is what the newest first contact says, whoever was asked for before', async () => {
    await contact('Lumen', 'moss');
    assert.deepEqual(await read('Lumen'), ['moss']);
    assert.deepEqual(await read('Мавка'), []);
    await contact('Мавка', 'water');
    await contact('Lumen', 'stone');
    assert.deepEqual(await read('Lumen'), ['stone']);
    assert.deepEqual(await read('Мавка'), ['water']);
  });

  it('is found for several at once: who has made a first contact, and who has not', async (t) => {
    const names = Array.from({ length: 40 }, (_, at) => `visitor ${at}`);
    for (const [at, name] of names.entries()) if (at % 3 === 0) await contact(name, name, 'moss');
    await contact('visitor 30', 'x'.repeat(70_000));
    const expected = names.map((name, at) => (at % 3 === 0 && at !== 30 ? [name, 'moss'] : []));
    const reads = t.mock.method(log, 'readEntries').mock;
    for (const [at, name] of names.entries())
      assert.deepEqual(await reader.read(name, log.head(), names.slice(at + 1)), expected[at]);
    // Each who has made one, one for each group, and those of a group one by one.
    assert.ok(reads.callCount() <= 14 + 3 + 1 + 16, `${reads.callCount()} searches`);
    const alone = new SeekingReader(log);
    for (const [at, name] of names.entries())
      assert.deepEqual(await alone.read(name, log.head()), expected[at]);
  });

  it('is looked for once in the log for all who are remembered, when others come', async (t) => {
    const names = Array.from({ length: 20 }, (_, at) => `visitor ${at}`);
    for (const name of names) await contact(name, name);
    for (const name of names) assert.deepEqual(await read(name), [name]);
    const reads = t.mock.method(log, 'readEntries').mock;
    await contact('another', 'company');
    for (const name of names) assert.deepEqual(await read(name), [name]);
    assert.equal(reads.callCount(), 1);
  });

  it('is right after very many entries, and after a first contact too long to be read', async () => {
    await contact('Lumen', 'moss');
    assert.deepEqual(await read('Lumen'), ['moss']);
    await contact('Lumen', 'stone');
    for (let count = 0; count < 5000; count += 1) await log.append(draftOf());
    assert.deepEqual(await read('Lumen'), ['stone']);
    await contact('Lumen', 'x'.repeat(70_000));
    assert.deepEqual(await read('Lumen'), []);
  });

  for (const [what, newer] of [
    ['short', ['stone']],
    ['long', Array.from({ length: 3000 }, (_, at) => `${at}`)],
  ] as const)
    it(`is not remembered as it was before a ${what} one that came while it was looked for`, async (t) => {
      await contact('Lumen', 'moss');
      const held = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      const readEntries = log.readEntries.bind(log);
      async function* readSlowly(selection: Selection): AsyncGenerator<Entry> {
        const found = await Array.fromAsync(readEntries(selection));
        begun.resolve();
        await held.promise;
        yield* found;
      }
      t.mock.method(log, 'readEntries', readSlowly, { times: 1 });
      const before = read('Lumen');
      await begun.promise;
      await contact('Lumen', ...newer);
      await read('Мавка');
      held.resolve();
      assert.deepEqual(await before, ['moss']);
      assert.deepEqual(await read('Lumen'), newer);
    });
});
