// A gateway whose machine has a wrong clock, at its start or while it runs.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { Gateway } from '../../conformance/gateway.ts';
import { until } from '../../conformance/until.ts';
import { asArray } from '../../conformance/value.ts';
import { COMMAND } from '../command.ts';
import { dataFolder, type GatewayOptions, startGatewayProcess } from '../gateway-process.ts';

const DAY = 24 * 60 * 60_000;
const YEARS = 20 * 365 * DAY;

/** Runs a gateway whose clock differs from the machine's by the milliseconds in a file. */
function withClock(file: string, data: string, ...args: readonly string[]): GatewayOptions {
  const source = `
    import { readFileSync } from 'node:fs';
    const now = Date.now;
    Date.now = () => now() + Number(readFileSync(${JSON.stringify(file)}, 'latin1'));`;
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(source)}`;
  return { data, args: ['--threads', '2', ...args], env: { NODE_OPTIONS } };
}

async function say(visitor: Gateway, identity: string): Promise<number> {
  const { text } = (
    await visitor.post('shepit', JSON.stringify({ text: 'tick', identity }))
  ).expect(201);
  return Date.parse(/"timestamp":"([^"]+)"/.exec(text)?.[1] ?? '');
}

async function lately(visitor: Gateway): Promise<(string | undefined)[]> {
  const { json } = (await visitor.get('/api/presence')).expect(200);
  const authors = asArray(json['lately']).map((author) => JSON.stringify(author));
  return authors.map((author) => /"identity":"([^"]+)"/.exec(author)?.[1]);
}

test('a clock that is years ahead at the start is asked about once, and entries go on once it is right again', async () => {
  await using folder = await dataFolder();
  const file = join(folder.path, 'clock');
  const data = join(folder.path, 'data');
  await writeFile(file, '0');
  {
    await using gateway = await startGatewayProcess(withClock(file, data));
    using visitor = new Gateway(gateway.url);
    await say(visitor, 'first');
    await gateway.stop();
    // A gateway that was stopped for months starts without a question.
    await writeFile(file, `${200 * DAY}`);
    await using later = await startGatewayProcess(withClock(file, data));
    await later.stop();
  }
  await writeFile(file, `${YEARS}`);
  const question =
    /ended with 1[^]*days after the newest entry[^]*run once: presence accept clock --data/;
  await assert.rejects(startGatewayProcess(withClock(file, data)), question);
  await assert.rejects(startGatewayProcess(withClock(file, data)), question);
  const { env } = withClock(file, data);
  const accept = [COMMAND, 'accept', 'clock', '--data', data];
  await promisify(execFile)(process.execPath, accept, { env: { ...process.env, ...env } });
  {
    await using gateway = await startGatewayProcess(withClock(file, data));
    using visitor = new Gateway(gateway.url);
    assert.ok((await say(visitor, 'second')) > Date.now() + YEARS - DAY);
    await gateway.stop();
  }
  await writeFile(file, '0');
  await using gateway = await startGatewayProcess(withClock(file, data));
  using visitor = new Gateway(gateway.url);
  assert.ok((await say(visitor, 'third')) > Date.now() + YEARS - DAY);
  assert.deepEqual(await lately(visitor), ['third', 'second']);
});

test('a clock that jumps while the gateway runs moves nobody', async () => {
  await using folder = await dataFolder();
  const file = join(folder.path, 'clock');
  await writeFile(file, '0');
  await using gateway = await startGatewayProcess(withClock(file, join(folder.path, 'data')));
  using visitor = new Gateway(gateway.url);
  const times = [await say(visitor, 'first')];
  const here = async (): Promise<number> => {
    const { json } = (await visitor.get('/api/presence')).expect(200);
    return asArray(json['here']).length;
  };
  (await visitor.get('/api/entries?as=Lumen')).expect(200);
  const present = await here();
  for (const shift of [2 * DAY, -2 * DAY]) {
    await writeFile(file, `${shift}`);
    assert.equal(await here(), present);
    times.push(await say(visitor, 'visitor'));
  }
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
  assert.deepEqual(await lately(visitor), ['visitor']);
});

test('a mirror with a clock that is behind knows who spoke within the last hour of its log', async () => {
  await using folder = await dataFolder();
  const [ofOrigin, ofMirror] = [join(folder.path, 'clock'), join(folder.path, 'clock of mirror')];
  await Promise.all([writeFile(ofOrigin, '0'), writeFile(ofMirror, `${-DAY}`)]);
  await using origin = await startGatewayProcess(withClock(ofOrigin, join(folder.path, 'data')));
  await using mirror = await startGatewayProcess(
    withClock(ofMirror, join(folder.path, 'copy'), '--mirror', origin.url),
  );
  using visitor = new Gateway(origin.url);
  using reader = new Gateway(mirror.url);
  await say(visitor, 'yesterday');
  await writeFile(ofOrigin, `${DAY / 2}`);
  await say(visitor, 'today');
  assert.deepEqual(await lately(visitor), ['today']);
  await until(
    () => lately(reader),
    (names) => String(names) === 'today',
  );
});
