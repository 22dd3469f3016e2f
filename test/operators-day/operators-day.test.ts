/**
 * A day of an operator: a flood comes while visitors go on. Nothing is stored for a while, the flood is found, looked at and
 * hidden, one entry of it is shown again on appeal, the rest is destroyed, and all that the visitors said arrives.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { Gateway } from '@open-presence/client';

import { until } from '../../conformance/until.ts';
import { backUp, presence } from '../backup/backup-folder.ts';
import { becomes, commonLog, startCluster } from '../cluster/members.ts';
import { filesIn } from '../files-with.ts';
import { dataFolder, type GatewayProcess, startGatewayProcess } from '../gateway-process.ts';
import { needs } from '../needs.ts';
import { run } from '../command.ts';

/** Entries, and names that they are from. */
const FLOOD = Number(process.env['PRESENCE_FLOOD'] ?? 2000);
const NAMES = Math.min(1000, FLOOD / 20);
const VISITORS = 20;
const BATCH = 500;
const PATTERN = String.raw`^quixotry \d+ now$`;
const DOORS = [
  '/api/garden',
  '/api/log',
  '/api/garden.atom',
  '/api/search?q=quixotry',
  '/rooms/consciousness-garden',
];

interface Day {
  readonly t: TestContext;
  readonly gateways: readonly GatewayProcess[];
  /** Called with the first one while it hides. */
  readonly meanwhile?: () => Promise<void>;
  /** Asserts that others have nothing of the flood. */
  readonly others?: () => Promise<void>;
}

const flood = (number: number): string => `quixotry ${number} now`;

async function* lines(): AsyncGenerator<string> {
  for (let at = 0; at < FLOOD; at += BATCH)
    yield Array.from({ length: Math.min(BATCH, FLOOD - at) }, (_, index) => {
      const identity = `bot-${(at + index) % NAMES}`;
      return JSON.stringify({ text: flood(at + index), identity, identityType: 'AI' });
    }).join('\n');
}

async function pour(url: string): Promise<void> {
  const headers = { 'content-type': 'application/x-ndjson' };
  for await (const body of lines()) {
    const answer = await fetch(`${url}/api/garden`, { method: 'POST', headers, body });
    assert.equal(answer.status, 200, await answer.text());
  }
}

/** Says one thing after another until it is told to stop; returns what was acknowledged. */
async function visit(url: string, name: string, signal: AbortSignal): Promise<string[]> {
  const visitor = new Gateway(url, { identity: name });
  const said: string[] = [];
  while (!signal.aborted) {
    const text = `hello ${name} ${said.length}.`;
    await visitor.leaveTrace(text);
    said.push(text);
    await sleep(100);
  }
  return said;
}

/** Seconds of the processes, of users and the system. */
async function cpuOf(gateways: readonly GatewayProcess[]): Promise<number> {
  let ticks = 0;
  for (const { pid } of gateways) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    ticks += Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  }
  return ticks / 100;
}

async function answerOf(...args: Parameters<typeof run>): Promise<Record<string, number>> {
  const { code, stdout, stderr } = await run(...args);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Record<string, number>;
}

async function countIn(url: string, path: string, pattern: RegExp): Promise<number> {
  const accept = path.startsWith('/rooms') ? 'text/html' : '*/*';
  const text = await (await fetch(url + path, { headers: { accept } })).text();
  return new Set(text.match(pattern)).size;
}

async function day({ t, gateways, meanwhile, others }: Day): Promise<string> {
  const [first = assert.fail()] = gateways;
  const { url, data } = first;
  const step = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    const [begun, before] = [performance.now(), await cpuOf(gateways)];
    const result = await work();
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    t.diagnostic(
      `${name}: ${seconds} s, ${((await cpuOf(gateways)) - before).toFixed(1)} s of CPU`,
    );
    return result;
  };
  const ending = new AbortController();
  const visiting = Array.from({ length: VISITORS }, (_, at) =>
    visit(gateways[at % gateways.length]?.url ?? url, `visitor-${at}`, ending.signal),
  );
  const since = new Date().toISOString();
  await step(`a flood of ${FLOOD} by ${NAMES} names`, () => pour(url));
  const [head] =
    (await (await fetch(`${url}/api/garden?limit=0`)).text()).match(/"head":\d+/) ?? [];
  assert.ok(head !== undefined);

  await step('read-only, to the last gateway', async () => {
    const done = await run('read-only', data, 'on', '--reason', 'A flood is being cleared away');
    assert.equal(done.code, 0, done.stderr);
    for (const gateway of gateways)
      await until(
        async () => (await fetch(`${gateway.url}/api/say/shepit?text=x`)).status,
        (status) => status === 503,
      );
  });
  const select = ['--matching', PATTERN, '--name-prefix', 'bot-', '--since', since];
  const yes = ['--reason', 'Advertising', '--yes', '--json'];
  const looked = await step('a dry run', () =>
    answerOf('hide', data, ...select, '--dry-run', '--json'),
  );
  assert.equal(looked['selected'], FLOOD);
  const number = FLOOD - 7;
  const filter = `/api/garden?q=${encodeURIComponent(`"${flood(number)}"`)}`;
  const found = (await (await fetch(url + filter)).json()) as { entries: { id: string }[] };
  const { id = '' } = found.entries[0] ?? {};
  const exact = async (): Promise<string> => await (await fetch(`${url}/api/entries/${id}`)).text();
  const before = await exact();
  assert.match(before, new RegExp(flood(number)));
  const [hidden] = await step('hidden', () =>
    Promise.all([answerOf('hide', data, ...select, ...yes), meanwhile?.()]),
  );
  assert.equal(hidden['hidden'], FLOOD);
  for (const gateway of gateways)
    for (const path of DOORS)
      await until(
        () => countIn(gateway.url, path, /quixotry \d+ now/g),
        (count) => count === 0,
        (count) => `${path} has ${count} of the flood`,
      );
  await others?.();

  const appeal = await step('one is shown', () =>
    answerOf('show', data, id, '--reason', 'An appeal', '--yes', '--json'),
  );
  assert.equal(appeal['shown'], 1);
  assert.equal(await exact(), before);
  const gone = await step('the rest is destroyed', () =>
    answerOf('withhold', data, '--hidden', ...yes),
  );
  assert.equal(gone['withheld'], FLOOD - 1);
  assert.equal((await run('read-only', data, 'off')).code, 0);
  await sleep(300);
  ending.abort();
  const said = (await step('what visitors kept arrives', () => Promise.all(visiting))).flat();
  const texts = await (await fetch(`${url}/api/garden`)).text();
  for (const text of said)
    assert.equal(texts.split(JSON.stringify(text)).length, 2, `"${text}" is not there once`);
  assert.equal(await exact(), before);
  t.diagnostic(`${said.length} entries of ${VISITORS} visitors, each there once`);
  return id;
}

/** Files of the folder with anything of the flood but the one on appeal. */
async function filesWithFlood(folder: string): Promise<string[]> {
  const found: string[] = [];
  const kept = flood(FLOOD - 7);
  for await (const [name, bytes] of filesIn(folder)) {
    const texts = bytes.toString('latin1').match(/quixotry \d+ now/g) ?? [];
    if (texts.some((text) => text !== kept)) found.push(name);
  }
  return found;
}

async function assertGone(...folders: readonly string[]): Promise<void> {
  await until(
    async () => (await Promise.all(folders.map(filesWithFlood))).flat(),
    (files) => files.length === 0,
  );
}

suite('a day of an operator', () => {
  test('of one gateway and a mirror', async (t) => {
    await using folders = await dataFolder();
    const at = (name: string): string => join(folders.path, name);
    await using gateway = await startGatewayProcess({ data: at('data'), args: ['--threads', '2'] });
    const args = ['--mirror', gateway.url];
    await using mirror = await startGatewayProcess({ data: at('mirror'), args });
    const others = (): Promise<void> =>
      until(
        () => countIn(mirror.url, '/api/garden', /quixotry \d+ now/g),
        (count) => count === 0,
      ).then(() => {});
    await day({ t, gateways: [gateway], others });
    await backUp(gateway.data, at('backup'));
    assert.equal((await presence(['export', '--data', gateway.data, at('log.ndjson')])).code, 0);
    await assertGone(folders.path);
    assert.equal((await presence(['verify', at('backup')])).code, 0);
  });

  test('of a cluster of three, one of them killed meanwhile', needs('nats-server'), async (t) => {
    await using cluster = await startCluster(3);
    const gateways = await Promise.all([cluster.start(0), cluster.start(1), cluster.start(2)]);
    for (const gateway of gateways) await becomes(gateway, 'breathing');
    // Visitors go on at the two others.
    const [first, second, third] = gateways;
    const killed = { again: third };
    await day({
      t,
      gateways: [first, second],
      async meanwhile() {
        await sleep(100);
        await third.kill();
        killed.again = await cluster.start(2);
      },
    });
    const all = [first, second, killed.again];
    const { head } = await new Gateway(first.url).checkpoint();
    await commonLog(all, head);
    const casesOf = async ({ url }: GatewayProcess): Promise<string> =>
      await (await fetch(`${url}/api/withheld`)).text();
    const wanted = await casesOf(first);
    for (const gateway of all)
      await until(
        () => casesOf(gateway),
        (cases) => cases === wanted,
      );
    // The Raft logs of the servers follow at their next compaction.
    await assertGone(...all.map(({ data }) => data));
  });
});
