// A gateway that starts again ends what it had begun before; one with a copy of its folder is another one.
import assert from 'node:assert/strict';
import { cp, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

import { unpackMessage } from '../../packages/cluster/src/stream/message.ts';
import { gatewayOf } from '../../packages/cluster/src/publishing/publisher.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { becomes, say } from './members.ts';
import { startNatsServers } from './nats-servers.ts';
import { needs } from '../needs.ts';

test(
  'a copy of a folder, at the same path of a machine of the same name, is of another gateway',
  needs('nats-server'),
  async (t) => {
    await using servers = await startNatsServers(1);
    await using folder = await dataFolder();
    const connection = await connect({ servers: servers.url.slice('nats://'.length).split(',') });
    t.after(() => connection.close());
    const manager = await jetstreamManager(connection);
    const data = join(folder.path, 'data');
    const identityAtStart = async (): Promise<string> => {
      await using gateway = await startGatewayProcess({ data, args: ['--log', servers.url] });
      await becomes(gateway, 'breathing');
      await say([gateway], 'here');
      await gateway.stop();
      const message = await manager.streams.getMessage('PRESENCE', {
        last_by_subj: 'PRESENCE.log',
      });
      assert.ok(message);
      return gatewayOf(unpackMessage(message.data).publisher);
    };

    const first = await identityAtStart();
    assert.equal(await identityAtStart(), first);
    const moved = join(folder.path, 'moved');
    await rename(data, moved);
    await cp(moved, data, { recursive: true, preserveTimestamps: true });
    const copied = await identityAtStart();
    assert.notEqual(copied, first);
    assert.equal(await identityAtStart(), copied);
  },
);
