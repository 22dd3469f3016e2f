// A gateway is killed while it learns words, and knows them all in the end.
import assert from 'node:assert/strict';
import { mkdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { Gateway } from '../../conformance/gateway.ts';
import { asArray } from '../../conformance/value.ts';
import { dataFolder, type GatewayProcess, startGatewayProcess } from '../gateway-process.ts';

const ROUNDS = 4;
const LARGE = 5 * 1024 * 1024;

test('the words of all that was acknowledged are found after crashes', async () => {
  await using folder = await dataFolder();
  const said: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await using gateway = await startGatewayProcess({
      data: folder.path,
      args: ['--threads', '2'],
    });
    using visitor = new Gateway(gateway.url);
    for (let count = 0; count < 200; count += 1) {
      const { entry } = await visitor.contribute(
        'shepit',
        JSON.stringify({ note: `mint of ${round}` }),
      );
      said.push(entry.seq);
    }
    const text = `mint ${'noise '.repeat(LARGE / 6)}`;
    said.push((await visitor.contribute('shepit', JSON.stringify({ text }))).entry.seq);
    // Now before its words are known, now in their midst, now after them.
    await pause(round * 200);
    await gateway.kill();
  }
  await found(folder.path, said);
  await rm(join(folder.path, 'index.sqlite'));
  await found(folder.path, said);
});

test('all else goes on where words cannot be read, and the operator is told', async () => {
  await using folder = await dataFolder();
  const file = join(folder.path, 'index.sqlite');
  await mkdir(file, { recursive: true });
  await using gateway = await startGatewayProcess({ data: folder.path });
  using visitor = new Gateway(gateway.url);
  const { entry } = await visitor.contribute('shepit', JSON.stringify({ note: 'mint' }));
  for (;;) {
    const answer = await visitor.get('/api/search?q=mint');
    if (answer.status === 503) break;
    assert.deepEqual([answer.json['known'], answer.json['results']], [0, []]);
  }
  assert.equal((await visitor.get('/api/shepit')).expect(200).json['head'], entry.seq);
  while (!gateway.output().includes('cannot be searched')) await pause(50);
  await rmdir(file);
  while (!gateway.output().includes('entries are indexed again')) await pause(50);
  await found(folder.path, [entry.seq], gateway);
});

async function found(
  data: string,
  said: readonly number[],
  running?: GatewayProcess,
): Promise<void> {
  await using gateway = running ?? (await startGatewayProcess({ data }));
  using visitor = new Gateway(gateway.url);
  for (;;) {
    const { json } = (await visitor.get('/api/search?q=mint&order=oldest&limit=10000')).expect(200);
    const seqs = asArray(json['results']).map(
      (result) => /"seq":(\d+)/.exec(JSON.stringify(result))?.[1],
    );
    const upTo = said.filter((seq) => seq <= Number(json['known']));
    assert.deepEqual(seqs.map(Number), upTo);
    if (upTo.length === said.length) break;
    await pause(50);
  }
  await gateway.stop();
}
