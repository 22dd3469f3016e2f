// A gateway that mirrors another one, as processes that are killed, and an origin that is changed.
import assert from 'node:assert/strict';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { suite, test } from 'node:test';

import { type Checkpoint, Gateway } from '@open-presence/client';

import { until } from '../../conformance/until.ts';
import { dataFolder, type GatewayProcess, startGatewayProcess } from '../gateway-process.ts';
import { assertPortable, formsOf, sayOddEntries } from '../readers/odd-members.ts';

/** Resolves once the gateway has logged this. */
async function logged(gateway: GatewayProcess, text: RegExp): Promise<void> {
  await until(
    async () => gateway.output(),
    (output) => text.test(output),
    (output) => `${text} was not logged: ${output}`,
  );
}

function mirrorOf(url: string, data: string, port = '0'): Promise<GatewayProcess> {
  return startGatewayProcess({ data, args: ['--mirror', url, '--port', port] });
}

const checkpointOf = (url: string): Promise<Checkpoint> => new Gateway(url).checkpoint();

/** Resolves once the mirror is where the origin is. */
async function caughtUp(origin: string, mirror: string): Promise<Checkpoint> {
  const end = await checkpointOf(origin);
  await until(
    () => checkpointOf(mirror),
    ({ head }) => head >= end.head,
    ({ head }) => `the mirror has ${head} of ${end.head} entries`,
  );
  return end;
}

async function say(url: string, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) await new Gateway(url).whisper(text);
}

async function lines(url: string): Promise<string> {
  return await (await fetch(`${url}/api/log`)).text();
}

suite('a mirror', () => {
  test('has the same log through kills of both while others write', async () => {
    await using folders = await dataFolder();
    const [originData, mirrorData] = [join(folders.path, 'origin'), join(folders.path, 'mirror')];
    let origin = await startGatewayProcess({ data: originData });
    const { url } = origin;
    const { port } = new URL(url);
    let mirror = await mirrorOf(url, mirrorData);
    const mirrorUrl = mirror.url;
    const end = new AbortController();
    let said = 0;
    const saying = async (): Promise<void> => {
      while (!end.signal.aborted) {
        const text = `${said} ${said % 20 === 0 ? 'large '.repeat(20_000) : ''}`;
        await new Gateway(url).whisper(text);
        said += 1;
      }
    };
    const reached = async (count: number): Promise<void> => {
      await until(
        async () => said,
        (now) => now > count,
      );
    };
    const writers = [saying(), saying(), saying()];
    await reached(30);
    await origin.kill();
    origin = await startGatewayProcess({ data: originData, args: ['--port', port] });
    await reached(60);
    await mirror.kill();
    await reached(90);
    mirror = await mirrorOf(url, mirrorData, new URL(mirrorUrl).port);
    await reached(120);
    end.abort();
    await Promise.all(writers);
    const last = await caughtUp(url, mirrorUrl);
    assert.equal(last.head, said);
    assert.deepEqual(await checkpointOf(mirrorUrl), last);
    assert.equal(await lines(mirrorUrl), await lines(url));
    await Promise.all([origin.stop(), mirror.stop()]);
  });

  test('names the setting where its first start finds no origin', async () => {
    await using folder = await dataFolder();
    await using origin = await startGatewayProcess();
    const start = mirrorOf(`${origin.url}/elsewhere`, join(folder.path, 'mirror'));
    await assert.rejects(start, /\/elsewhere \(--mirror or PRESENCE_MIRROR\): .*no such path/);
  });

  test('serves what it has, and leads what is said to the origin, by every way', async () => {
    await using folder = await dataFolder();
    await using origin = await startGatewayProcess();
    await say(origin.url, 'first');
    await using mirror = await mirrorOf(origin.url, folder.path);
    await caughtUp(origin.url, mirror.url);
    const { text } = (await Array.fromAsync(new Gateway(mirror.url).entries()))[0] ?? {};
    assert.equal(text, 'first');
    const discovery = await new Gateway(mirror.url).discover();
    assert.deepEqual(discovery.mirror, { origin: origin.url, state: 'following', behind: 0 });
    assert.equal((await new Gateway(origin.url).discover()).mirror, undefined);
    const large = `{"text":"${'x'.repeat(200_000)}"}`;
    const json = { 'Content-Type': 'application/json' };
    const requests: readonly (readonly [string, RequestInit])[] = [
      ['/api/garden', { method: 'POST', headers: json, body: '{"text":"small"}' }],
      ['/api/shepit?as=x', { method: 'POST', headers: json, body: large }],
      ['/api/shepit', { method: 'POST', body: new URLSearchParams({ text: 'form' }) }],
      [
        '/api/seeds',
        { method: 'POST', headers: { 'Content-Type': 'application/x-ndjson' }, body: '{}\n{}\n' },
      ],
      ['/api/say/shepit?text=x', {}],
    ];
    for (const [path, request] of requests) {
      const answer = await fetch(mirror.url + path, { ...request, redirect: 'manual' });
      assert.equal(answer.status, 307, path);
      assert.equal(answer.headers.get('location'), origin.url + path);
      assert.equal(((await answer.json()) as { code: string }).code, 'misdirected');
    }
    const call = (name: string, args: object): string =>
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: name, params: args });
    const message = { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'x' }] };
    const calls: readonly (readonly [string, string])[] = [
      ['/mcp', call('tools/call', { name: 'whisper', arguments: { text: 'x' } })],
      ['/a2a', call('SendMessage', { message })],
    ];
    for (const [path, body] of calls) {
      const accept = { Accept: 'application/json, text/event-stream', 'A2A-Version': '1.0' };
      const headers = { ...json, ...accept };
      const answer = await fetch(mirror.url + path, { method: 'POST', headers, body });
      assert.match(await answer.text(), new RegExp(`this is a mirror of ${origin.url}`), path);
    }
    assert.equal((await checkpointOf(origin.url)).head, 1);
    await new Gateway(mirror.url).whisper('through the mirror');
    await caughtUp(origin.url, mirror.url);
    assert.equal((await checkpointOf(mirror.url)).head, 2);
  });

  test('gives entries that common readers refuse in the same form as its origin', async () => {
    await using folder = await dataFolder();
    await using origin = await startGatewayProcess();
    await sayOddEntries(origin.url);
    await using mirror = await mirrorOf(origin.url, folder.path);
    await caughtUp(origin.url, mirror.url);
    const forms = await formsOf(mirror.url);
    assertPortable(forms);
    assert.deepEqual(forms, await formsOf(origin.url));
    assert.equal(await lines(mirror.url), await lines(origin.url));
  });

  test('stops where the log of its origin was rewritten, and serves its copy on', async () => {
    await using folders = await dataFolder();
    const data = join(folders.path, 'origin');
    const backup = join(folders.path, 'backup');
    const mirrorData = join(folders.path, 'mirror');
    let origin = await startGatewayProcess({ data });
    const { url } = origin;
    const args = ['--port', new URL(url).port];
    await say(url, '1', '2', '3');
    await origin.stop();
    await cp(data, backup, { recursive: true });
    origin = await startGatewayProcess({ data, args });
    await say(url, '4', '5', '6');
    await using mirror = await mirrorOf(url, mirrorData);
    const copied = await caughtUp(url, mirror.url);
    await origin.stop();
    await using restored = await startGatewayProcess({ data: backup, args });
    assert.equal(restored.url, url);
    await say(url, 'another 4', 'another 5', 'another 6', '7');
    await logged(mirror, /mirror: stopped/);
    assert.match(mirror.output(), /"seq":6,.*has another one there: it was restored or rewritten/);
    assert.deepEqual(await checkpointOf(mirror.url), copied);
    const { mirror: described } = await new Gateway(mirror.url).discover();
    assert.equal(described?.state, 'stopped');
  });

  test('names the entry that was changed at its origin by hand, and takes nothing from there on', async () => {
    await using folders = await dataFolder();
    const data = join(folders.path, 'origin');
    {
      await using before = await startGatewayProcess({ data });
      await say(before.url, 'one', 'two', 'three', 'four', 'five');
    }
    changeByHand(data, 'three', 'tHree');
    await using origin = await startGatewayProcess({ data });
    await using mirror = await mirrorOf(origin.url, join(folders.path, 'mirror'));
    await logged(mirror, /Entry 3 is not what its link was made of/);
    assert.equal((await checkpointOf(mirror.url)).head, 2);
  });
});

/** `to`: as long as `from`. */
function changeByHand(data: string, from: string, to: string): void {
  const db = new DatabaseSync(join(data, 'log.sqlite'));
  for (const { seq, text } of db.prepare('SELECT seq, text FROM entries').all()) {
    const bytes = Buffer.from(text as Uint8Array);
    const at = bytes.indexOf(from);
    if (at === -1) continue;
    bytes.write(to, at);
    db.prepare('UPDATE entries SET text = ? WHERE seq = ?').run(bytes, seq ?? null);
  }
  db.close();
}
