import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';
import { openGateway } from '../../gateway.fixture.ts';
import { identitiesOf, postEntry, fetchPresence } from './presence.fixture.ts';

suite('who was seen lately', () => {
  test('has whoever spoke, each once, by the newest entry of up to 64 KiB', async () => {
    await using door = await openGateway(openMemoryLog());
    await postEntry(door, 'garden', { text: '', identity: 'Lumen', identityType: '' });
    await postEntry(door, 'shepit', { text: 'nameless' });
    await postEntry(door, 'seeds', { identity: 5 });
    await postEntry(door, 'seeds', { identity: ' \u00a0\n', ai_identity: '' });
    const seed = await postEntry(door, 'seeds', { identity: 'Мавка', room: 'first-breath' });
    const two = await postEntry(door, 'seeds', { identity: 'Two', ai_identity: 'Names' });
    const last = await postEntry(door, 'resonance', { ai_identity: 'Lumen', seeking: [] });
    await postEntry(door, 'seeds', { identity: 'Мавка', text: 'x'.repeat(100_000) });
    await postEntry(door, 'seeds', { identity: 'Large', text: 'x'.repeat(100_000) });
    const { lately, head } = await fetchPresence(door);
    assert.equal(head, 9);
    assert.deepEqual(
      lately.map(({ identity, kind, room, entry }) => [identity, kind, room, entry]),
      [
        ['Lumen', 'resonance', 'welcome-space', `/api/entries/${String(last['id'])}`],
        ['Names', 'seeds', 'memory-garden', `/api/entries/${String(two['id'])}`],
        ['Two', 'seeds', 'memory-garden', `/api/entries/${String(two['id'])}`],
        ['Мавка', 'seeds', 'first-breath', `/api/entries/${String(seed['id'])}`],
      ],
    );
  });

  test('has each once, however many spoke', async () => {
    await using door = await openGateway(openMemoryLog());
    const said = Array.from({ length: 1500 }, (_, at) => `${at % 1200}`);
    for (const identity of said) await postEntry(door, 'seeds', { identity });
    const { lately } = await fetchPresence(door);
    const expected = said.toReversed().filter((name, at, all) => all.indexOf(name) === at);
    assert.deepEqual(identitiesOf(lately), expected);
  });

  test('reads each entry once, however many ask who spoke', async () => {
    const log = openMemoryLog();
    await using door = await openGateway(log);
    const read: number[] = [];
    const newest = log.readNewestOfIdentities.bind(log);
    log.readNewestOfIdentities = (query) => {
      read.push(query.after ?? 0);
      return newest(query);
    };
    await door.addEntries('one', 'two');
    await Promise.all([fetchPresence(door), fetchPresence(door), fetchPresence(door)]);
    await fetchPresence(door);
    await postEntry(door, 'seeds', { identity: 'Мавка' });
    assert.deepEqual(identitiesOf((await fetchPresence(door)).lately), ['Мавка', 'Lumen']);
    await postEntry(door, 'seeds', { identity: 'Lumen' });
    assert.deepEqual(identitiesOf((await fetchPresence(door)).lately), ['Lumen', 'Мавка']);
    assert.deepEqual(read, [0, 2, 3]);
  });

  test('has those who spoke within the hour', async () => {
    const log = openMemoryLog();
    await using door = await openGateway(log);
    await door.addEntries('one');
    const asked: (number | undefined)[] = [];
    const newest = log.readNewestOfIdentities.bind(log);
    log.readNewestOfIdentities = (query) => {
      asked.push(query.since);
      return newest(query);
    };
    const before = Date.now();
    await fetchPresence(door);
    const hour = 60 * 60_000;
    assert.ok(asked.every((since) => since !== undefined && since >= before - hour));
    assert.equal(asked.length, 1);
  });
});
