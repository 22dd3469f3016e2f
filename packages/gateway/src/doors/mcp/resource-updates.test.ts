import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';
import { openGateway } from '../../gateway.fixture.ts';
import { ResourceUpdates } from './resource-updates.ts';
import { call, subscribe } from './mcp.fixture.ts';

test('subscribers are told of every room where it cannot be read which one has news', async () => {
  const log = openMemoryLog();
  await using door = await openGateway(log);
  await using caller = await door.connect();
  const room = 'presence://rooms/first-breath';
  await subscribe(caller, [room]);
  log.roomCounts = () => {
    throw new Error('The disk does not answer.');
  };
  await call(door, 'whisper', '{}');
  await caller.until(/resources\/updated[^]*first-breath/);
  assert.equal(door.reported.length, 1);
  caller.socket.destroy();
});

test('a listener that fails keeps no other from being told', async () => {
  const log = openMemoryLog();
  await using door = await openGateway(log);
  const reported: object[] = [];
  const report = { error: (details: object) => void reported.push(details) };
  const updates = new ResourceUpdates({ log, language: door.language, report });
  const told: string[] = [];
  const ends = [
    updates.subscribe(() => {
      throw new Error('The stream is closed.');
    }),
    updates.subscribe(({ kind }) => void told.push(kind)),
  ];
  updates.publish({ kind: 'resource_updated', uri: 'presence://rooms' });
  assert.equal(told.length, 1);
  assert.equal(reported.length, 1);
  for (const end of ends) end();
});

test('subscribers of a room, of all rooms and of an entry are told that it was withheld', async () => {
  const log = openMemoryLog();
  await using door = await openGateway(log);
  await call(door, 'whisper', '{"room":"memory-garden"}');
  const id = (await log.entry(1))?.metadata.id ?? assert.fail();
  const uris = ['presence://rooms/memory-garden', 'presence://rooms', `presence://entries/${id}`];
  for (const uri of uris) {
    await using caller = await door.connect();
    await subscribe(caller, [uri]);
    await call(door, 'whisper', '{"room":"memory-garden"}');
    if (!uri.includes('entries')) await caller.until(/resources\/updated[^]*\n\n/);
    const seq = uris.indexOf(uri) + 2;
    assert.equal(await log.withhold(uri.includes('entries') ? [1] : [seq], 'spam'), 1);
    await caller.until(
      uri.includes('entries')
        ? /resources\/updated[^]*\n\n/
        : /resources\/updated[^]*resources\/updated[^]*\n\n/,
    );
    caller.socket.destroy();
  }
});
