// A copy that is not what the others have says so, and stops.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

import { draftOf } from '../../packages/gateway/src/log/log.fixture.ts';
import { dataPathsIn } from '../../packages/gateway/src/stores/sqlite/data-paths.ts';
import { openForReading } from '../../packages/gateway/src/stores/sqlite/database.ts';
import { readStreamPosition } from '../../packages/gateway/src/stores/sqlite/replica/stream-progress.ts';
import { Writer } from '../../packages/gateway/src/stores/sqlite/writer/writer.ts';
import { SharedState } from '../../packages/gateway/src/stores/sqlite/shared-state.ts';
import { becomes, Sayings, startCluster } from './members.ts';
import { needs } from '../needs.ts';

/** Applies this many entries that are not in the stream, in place of its next message. */
function goAstray(folder: string, entries: number): void {
  const paths = dataPathsIn(folder);
  using db = openForReading(paths.log);
  const { stream = '', position = 0, head = 0 } = readStreamPosition(db) ?? {};
  const writer = new Writer(paths, new SharedState());
  const drafts = Array.from({ length: entries }, () => ({
    ...draftOf(),
    key: undefined,
    large: undefined,
  }));
  const origin = { publisher: 'astray', number: 1, settled: 0, sent: 0 };
  const batch = { position: position + 1, time: 0, nonce: Buffer.alloc(32), ...origin, drafts };
  assert.notEqual(typeof writer.apply([batch], { stream, resumeAt: position + 2 }), 'string');
  writer.close();
  using after = openForReading(paths.log);
  assert.equal(readStreamPosition(after)?.head, head + entries);
}

// With none, its log stays shorter than that of the others.
for (const entries of [0, 1, 20])
  test(
    `a gateway that applied ${entries} other entries than most gateways stops`,
    needs('nats-server'),
    async () => {
      await using cluster = await startCluster(1);
      const members = [await cluster.start(0), await cluster.start(1), await cluster.start(2)];
      const [first, second, third] = members;
      assert.ok(first && second && third);
      const sayings = new Sayings();
      await sayings.say(members, 0, 5);
      await sayings.check(members);
      await third.stop();
      goAstray(third.data, entries);
      await sayings.say([first, second], 5, 5);
      // Also when it is started again.
      for (let starts = 0; starts < 2; starts += 1) {
        const output = await cluster.start(2).then(
          async (astray) => {
            assert.notEqual((await astray.ends()).code, 0);
            return astray.output();
          },
          // It may stop before it serves.
          (error: unknown) => String(error),
        );
        assert.match(output, /Most gateways of the cluster have another log than this one/);
      }
      for (const member of [first, second]) await becomes(member, 'breathing');
      await sayings.say([first, second], 10, 5);
      await sayings.check([first, second]);
    },
  );

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
