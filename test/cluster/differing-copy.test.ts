// A copy that is not what the others have is told to the operator.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

import { draftOf } from '../../packages/gateway/src/log/log.fixture.ts';
import { dataPathsIn } from '../../packages/gateway/src/store/data-paths.ts';
import { openForReading } from '../../packages/gateway/src/store/database.ts';
import { readStreamPosition } from '../../packages/gateway/src/store/replica/stream-progress.ts';
import { Writer } from '../../packages/gateway/src/store/writer/writer.ts';
import { SharedState } from '../../packages/gateway/src/store/shared-state.ts';
import { becomes, Sayings, startCluster } from './members.ts';
import { needs } from '../needs.ts';

/** Applies an entry that is not in the stream, in place of its next message. */
function goAstray(folder: string): void {
  const paths = dataPathsIn(folder);
  using db = openForReading(paths.log);
  const { stream = '', position = 0, head = 0 } = readStreamPosition(db) ?? {};
  const writer = new Writer(paths, new SharedState());
  const drafts = [{ ...draftOf(), key: undefined, large: undefined }];
  const origin = { publisher: 'astray', number: 1, settled: 0, sent: 0 };
  const batch = { position: position + 1, time: 0, nonce: Buffer.alloc(32), ...origin, drafts };
  assert.notEqual(typeof writer.apply([batch], { stream, resumeAt: position + 2 }), 'string');
  writer.close();
  using after = openForReading(paths.log);
  assert.equal(readStreamPosition(after)?.head, head + 1);
}

test('gateways whose copies differ say so', needs('nats-server'), async () => {
  await using cluster = await startCluster(1);
  const members = [await cluster.start(0), await cluster.start(1)];
  const [first, second] = members;
  assert.ok(first && second);
  const sayings = new Sayings();
  await sayings.say(members, 0, 5);
  await sayings.check(members);
  await second.stop();
  goAstray(second.data);
  await sayings.say([first], 5, 5);
  const astray = await cluster.start(1);
  const said = /copy of the log differs at entry \d+ or before it/;
  while (![first, astray].some((member) => said.test(member.output()))) await sleep(100);
  await sayings.say([first], 10, 5);
  await sayings.check([first]);
});

test('a gateway that finds a message of a newer version stops', needs('nats-server'), async () => {
  await using cluster = await startCluster(1);
  const member = await cluster.start(0);
  await becomes(member, 'breathing');
  const connection = await connect({ servers: cluster.servers.url.slice('nats://'.length) });
  await jetstream(connection).publish('PRESENCE.log', Buffer.alloc(100, 2));
  await connection.close();
  const { code } = await member.ends();
  assert.notEqual(code, 0);
  assert.match(member.output(), /a message of another version: use the newest of all gateways/);
});
