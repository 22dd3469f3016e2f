// An upload whose gateway was killed leaves nothing behind, and its draft makes no entry anywhere.
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

import { until } from '../../conformance/until.ts';
import { draftOf } from '../../packages/gateway/src/log/log.fixture.ts';
import {
  type MessageKind,
  packChunk,
  packMessage,
} from '../../packages/cluster/src/stream/message.ts';
import { dataPathsIn } from '../../packages/gateway/src/store/data-paths.ts';
import { openForReading } from '../../packages/gateway/src/store/database.ts';
import { packDrafts } from '../../packages/gateway/src/log/packed-drafts.ts';
import { readStreamPosition } from '../../packages/gateway/src/store/replica/stream-progress.ts';
import { inject } from '../crash/strace.ts';
import { dataFolder, type GatewayProcess, startGatewayProcess } from '../gateway-process.ts';
import { becomes, commonLog, entriesOf, post, say, Sayings, startCluster } from './members.ts';
import { needs } from '../needs.ts';
import { presence } from '../command.ts';

const BODY = Buffer.from('"text":"never finished"}');

async function uploadsIn(members: readonly GatewayProcess[]): Promise<readonly number[]> {
  const folders = members.map(({ data }) => readdir(join(data, 'large'), { recursive: true }));
  const found = await Promise.all(folders);
  return found.map((files) => files.filter((file) => file.endsWith('.part')).length);
}

async function haveUploads(members: readonly GatewayProcess[], count: number): Promise<void> {
  await until(
    () => uploadsIn(members),
    (counts) => counts.every((found) => found === count),
    (counts) => `the folders have ${counts.join(' and ')} uploads instead of ${count}`,
  );
}

test('an upload whose gateway was killed', needs('nats-server'), async (t) => {
  await using cluster = await startCluster(1);
  const members = [await cluster.start(0), await cluster.start(1)] as const;
  for (const member of members) await becomes(member, 'breathing');
  const { url } = cluster.servers;
  const connection = await connect({ servers: url.slice('nats://'.length).split(',') });
  t.after(() => connection.close());
  const stream = jetstream(connection);
  const gateway = randomBytes(8).toString('hex');
  const killed = gateway + randomBytes(8).toString('hex');
  const started = gateway + randomBytes(8).toString('hex');
  let name = randomUUID();
  let number = 0;
  const publish = async (
    publisher: string,
    kind: MessageKind,
    payload: readonly Uint8Array[],
  ): Promise<number> => {
    number += 1;
    const origin = { publisher, number, settled: 0, sent: Date.now() };
    const subject = kind === 'chunk' ? `PRESENCE.upload.${name}` : 'PRESENCE.log';
    return (await stream.publish(subject, packMessage(kind, origin, payload))).seq;
  };
  const chunk = (offset: number, bytes: Uint8Array): readonly Uint8Array[] =>
    packChunk({ name, offset, bytes });
  const digest = createHash('sha256').update(BODY.subarray(0, -1)).digest('hex');
  const draft = (): readonly Uint8Array[] => {
    const large = { name, size: BODY.length, digest };
    const packed = packDrafts([{ ...draftOf(), body: Buffer.alloc(0), key: undefined, large }]);
    return [new Uint8Array(packed)];
  };
  const sayings = new Sayings();
  await sayings.say(members, 0, 10);

  await publish(killed, 'chunk', chunk(0, BODY.subarray(0, 10)));
  await haveUploads(members, 1);

  await t.test('is dropped by every copy when the gateway starts again', async () => {
    const position = await publish(started, 'drafts', []);
    await haveUploads(members, 0);
    await sayings.say(members, 10, 10);
    await sayings.check(members);
    for (const { data } of members) {
      using log = openForReading(dataPathsIn(data).log);
      assert.ok((readStreamPosition(log)?.resumeAt ?? 0) > position, 'a restart reads it again');
    }
  });

  await t.test('makes no entry, even if what was on its way comes later', async () => {
    await publish(killed, 'chunk', chunk(10, BODY.subarray(10)));
    await publish(killed, 'chunk', chunk(0, BODY.subarray(0, 10)));
    await publish(killed, 'drafts', draft());
    await sayings.say(members, 20, 10);
    await sayings.check([...members, await cluster.start(2)]);
    const log = await commonLog(members, 30);
    assert.deepEqual([log.length, log.filter((line) => line.includes('never finished'))], [30, []]);
    await haveUploads(members, 0);
  });

  await t.test('could have become one', async () => {
    name = randomUUID();
    await publish(started, 'chunk', chunk(10, BODY.subarray(10)));
    await publish(started, 'chunk', chunk(0, BODY.subarray(0, 10)));
    await publish(started, 'drafts', draft());
    const log = await commonLog(members, 31);
    assert.ok(log[30]?.includes('never finished'));
  });

  await t.test('makes none in any copy where the stream has other bytes of it', async () => {
    name = randomUUID();
    await publish(started, 'chunk', chunk(0, Buffer.from(BODY.with(9, 0))));
    await publish(started, 'drafts', draft());
    await sayings.say(members, 30, 1);
    const log = await commonLog(members, 32);
    assert.equal(log.filter((line) => line.includes('finished')).length, 1);
    await haveUploads(members, 0);
  });

  await t.test('becomes one in a copy, too, that is restored from a backup before', async () => {
    name = randomUUID();
    await using folders = await dataFolder();
    const [backups, copy] = [join(folders.path, 'backups'), join(folders.path, 'copy')];
    await publish(started, 'chunk', chunk(0, BODY.subarray(0, 10)));
    await haveUploads(members, 1);
    await sayings.say(members, 31, 1);
    const [first] = members;
    assert.equal((await presence('backup', backups, '--data', first.data)).code, 0);
    await publish(started, 'chunk', chunk(10, BODY.subarray(10)));
    await publish(started, 'drafts', draft());
    assert.equal((await presence('restore', backups, '--data', copy, '--as-copy')).code, 0);
    const args = ['--threads', '1', '--log', url];
    await using restored = await startGatewayProcess({ data: copy, args });
    const log = await commonLog([...members, restored], 34);
    assert.ok(log[33]?.includes('never finished'));
  });
});

test('faults of disks while an upload travels', needs('nats-server', 'strace'), async (t) => {
  await using cluster = await startCluster(1);
  // With one thread for files, the order of its calls is known.
  const env = { UV_THREADPOOL_SIZE: '1' };
  const members = [await cluster.start(0), await cluster.start(1, env)] as const;
  for (const member of members) await becomes(member, 'breathing');
  const [publisher, receiver] = members;
  const length = 3_000_000;
  await t.test('end no gateway that cannot read what it sends', async () => {
    const [text, key] = ['c'.repeat(length), randomUUID()];
    {
      await using _ = await inject(publisher.pid, 'pread64', 'error=EIO:when=1..2');
      assert.equal((await post(publisher.url, text, key)).status, 503);
    }
    await haveUploads(members, 0);
    await becomes(publisher, 'breathing');
    assert.equal((await post(publisher.url, text, key)).status, 201);
    await commonLog(members, 1);
  });

  await t.test('lose nothing of a copy that could not open its file', async () => {
    {
      // Once in each thread, when chunks have come: a file that is truncated then has zeros in their place.
      await using _ = await inject(receiver.pid, 'openat', 'error=EMFILE:when=4');
      await say([publisher], 'a'.repeat(length));
      await until(
        () => entriesOf(receiver).catch(() => []),
        (entries) => entries.length === 2,
      );
    }
    await commonLog(members, 2);
  });

  await t.test('lose nothing of a copy that could not flush it', async () => {
    {
      await using _ = await inject(receiver.pid, 'fsync', 'error=EIO:when=1..9');
      await say([publisher], 'b'.repeat(length));
    }
    await commonLog(members, 3);
  });
});
