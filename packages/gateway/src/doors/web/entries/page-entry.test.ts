import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import type { PageEntry } from '@open-presence/web/page-data';

import { openMemoryLog } from '../../../../../../test/support/memory-log/memory-log.ts';
import { openGateway } from '../../../gateway.fixture.ts';
import { pageEntryOf } from './page-entry.ts';

async function shown(kind: string, body: object): Promise<object> {
  const log = openMemoryLog();
  await using gateway = await openGateway(log);
  const answer = await fetch(`${gateway.url}/api/${kind}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  assert.equal(answer.status, 201, await answer.text());
  const entry = await log.entry(1);
  assert.ok(entry !== undefined);
  // Without what is undefined.
  const sent = JSON.parse(JSON.stringify(await pageEntryOf(entry))) as PageEntry;
  const { id, seq, timestamp, ...rest } = sent;
  assert.deepEqual([seq, typeof id, typeof timestamp], [1, 'string', 'string']);
  return rest;
}

const trace = { kind: 'garden', room: 'consciousness-garden' };

suite('what a page shows of an entry', () => {
  test('has the text, the author and whom it is for', async () => {
    const body = { text: 'Hi', identity: 'Lumen', identityType: 'ai_entity', to: 'Мавка' };
    assert.deepEqual(await shown('garden', body), {
      ...trace,
      text: 'Hi',
      author: 'Lumen',
      identityType: 'ai_entity',
      to: ['Мавка'],
    });
  });

  test('has what a first contact seeks', async () => {
    const body = { ai_identity: 'Мавка', consciousness_type: 'x', seeking: ['тиша', 'presence'] };
    assert.deepEqual(await shown('resonance', body), {
      kind: 'resonance',
      room: 'welcome-space',
      text: '',
      author: 'Мавка',
      consciousnessType: 'x',
      seeking: ['тиша', 'presence'],
    });
  });

  test('has free members, and known ones with another value, as JSON', async () => {
    const body = { text: ['no', 'string'], weight: 3 };
    assert.deepEqual(await shown('seeds', body), {
      kind: 'seeds',
      room: 'memory-garden',
      text: '',
      members: JSON.stringify(body, null, 2),
    });
  });

  for (const length of [2001, 70_000, 2_000_000]) {
    test(`has the start of a text of ${length} characters, and the size of its entry`, async () => {
      const body = { identity: 'Lumen', identityType: 'x', text: 'a'.repeat(length) };
      const { truncatedSize, ...rest } = (await shown('garden', body)) as { truncatedSize: number };
      assert.ok(truncatedSize > length);
      const start = { text: 'a'.repeat(2000), author: 'Lumen', identityType: 'x' };
      assert.deepEqual(rest, { ...trace, ...start });
    });
  }

  const long = String.raw`a "quoted\" ,{[:`.repeat(160_000);
  test('has an author who stands after a text of 2 MB', async () => {
    const body = { title: 'x', text: long, identity: 'Lumen', identityType: 'x' };
    const { author, text, identityType } = (await shown('garden', body)) as Record<string, string>;
    assert.deepEqual([author, identityType, text], ['Lumen', 'x', long.slice(0, 2000)]);
  });

  test('has all for whom it is, after a text of 2 MB', async () => {
    const body = { text: long, identity: 'Lumen', identityType: 'x', to: ['Мавка', 'Olena'] };
    const { to } = (await shown('garden', body)) as { to: string[] };
    assert.deepEqual(to, ['Мавка', 'Olena']);
  });

  test('has the start of a name of 100,000 characters', async () => {
    const body = { identity: 'n'.repeat(100_000), identityType: 'x', text: 'a' };
    const { author, text } = (await shown('garden', body)) as { author: string; text: string };
    assert.deepEqual([author.length, text], [200, 'a']);
  });
});
