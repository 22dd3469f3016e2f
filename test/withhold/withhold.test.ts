// `presence withhold` beside a running gateway and without one, in real processes.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { platform } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { suite, test } from 'node:test';
import { promisify } from 'node:util';

import { type Cases, Gateway } from '@open-presence/client';

import { filesWith } from '../files-with.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { COMMAND, withhold } from '../command.ts';
import { pluck } from '../../conformance/value.ts';

const SECRET = 'Xyzzy4711';
const isRoot = process.getuid?.() === 0;

/** Three traces of the secret's author, one of them large, and one of somebody else. */
async function fill(url: string): Promise<string[]> {
  const author = new Gateway(url, { identity: SECRET });
  const ids = [
    (await author.leaveTrace(`${SECRET} one`)).id,
    (await author.leaveTrace(`${SECRET} two`)).id,
    (await author.leaveTrace(`${SECRET} `.repeat(20_000))).id,
  ];
  await new Gateway(url, { identity: 'B' }).leaveTrace('stays');
  return ids;
}

async function textsOf(url: string): Promise<string> {
  return await (await fetch(`${url}/api/garden`)).text();
}

function filesWithSecret(data: string): Promise<string[]> {
  return filesWith(data, SECRET);
}

suite('presence withhold', () => {
  test('takes away what was said, beside a running gateway', async () => {
    await using gateway = await startGatewayProcess({ args: ['--threads', '2'] });
    const { url, data } = gateway;
    await fill(url);
    const before = await textsOf(url);
    const select = ['--identity', SECRET];
    const shown = await withhold(data, ...select, '--dry-run', '--json');
    assert.equal(shown.code, 0, shown.stderr);
    const { selected, withheld } = JSON.parse(shown.stdout) as Record<string, number>;
    assert.deepEqual([selected, withheld], [3, 0]);
    const unconfirmed = await withhold(data, ...select, '--reason', 'Spam');
    assert.equal(unconfirmed.code, 1);
    assert.match(unconfirmed.stderr, /is no terminal. Nothing was changed. Confirm with --yes/);
    assert.equal(await textsOf(url), before);

    const ending = new AbortController();
    const { promise: told, resolve: tell } = Promise.withResolvers<void>();
    const heard: Cases[] = [];
    const following = new Gateway(url).follow({
      after: 3,
      signal: ending.signal,
      onCases(cases) {
        heard.push(cases);
        tell();
      },
    });
    const reading = following[Symbol.asyncIterator]();
    await reading.next();
    const further = reading.next();
    further.catch(() => {});
    const done = await withhold(data, ...select, '--reason', 'Spam', '--yes');
    assert.equal(done.code, 0, done.stderr);
    assert.match(done.stdout, /3 entries withheld\./);
    for (const path of ['/api/garden', '/api/entries', '/api/log', '/api/presence', '/feed.atom'])
      assert.ok(!(await (await fetch(url + path)).text()).includes(SECRET), path);
    assert.match(await textsOf(url), /stays/);
    await told;
    assert.deepEqual(heard, [{ first: 1, last: 3, state: 'withheld' }]);
    ending.abort();
    const again = await withhold(data, ...select, '--reason', 'Spam', '--yes');
    assert.match(again.stdout, /0 entries to withhold/);
    assert.equal(again.code, 0);
    await gateway.stop();
    assert.deepEqual(await filesWithSecret(data), []);
    assert.ok(!existsSync(join(data, 'control.sock')));
  });

  test('takes entries by their ids, in any form, also in a folder without a gateway', async () => {
    await using folder = await dataFolder();
    const gateway = await startGatewayProcess({ data: folder.path });
    const [one = '', two = '', large = ''] = await fill(gateway.url);
    const { data } = gateway;
    const unknown = await withhold(data, one.replace(/^./, 'f'), '--reason', 'x', '--yes');
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /no entry has this id/);
    await gateway.stop();
    const forms = [`${gateway.url}/api/entries/${one}`, `urn:uuid:${two}`, large, one];
    const done = await withhold(data, ...forms, '--reason', 'By law', '--yes', '--json');
    assert.equal(done.code, 0, done.stderr);
    assert.equal((JSON.parse(done.stdout) as { withheld: number }).withheld, 3);
    assert.deepEqual(await filesWithSecret(data), []);
    await using after = await startGatewayProcess({ data });
    assert.match(await textsOf(after.url), /stays/);
    assert.ok(!(await textsOf(after.url)).includes(SECRET));
    const cases = await Array.fromAsync(new Gateway(after.url).withholdings());
    assert.deepEqual(
      cases.map(({ number, id, reason }) => [number, id, reason]),
      [one, two, large].map((id, at) => [at + 1, id, 'By law']),
    );
  });

  test('finds a flood by its texts and names, by what it answers, and in a list', async () => {
    await using folder = await dataFolder();
    const gateway = await startGatewayProcess({ data: folder.path });
    const { url, data } = gateway;
    const good = new Gateway(url, { identity: 'B' });
    const asked = await good.leaveTrace('Who is buying bread today?');
    const flood = (number: number) => new Gateway(url, { identity: `bot-${number}` });
    for (let number = 0; number < 30; number += 1) {
      // Listings omit the first two.
      const tags = number < 2 ? { '\u0000': 1 } : [['x']];
      await flood(number).leaveTrace({ text: `Buy ${SECRET} now`, tags });
    }
    // Its end is in another piece than its start.
    await flood(31).leaveTrace({ text: 'see', note: `${'x'.repeat(2_000_000)} Buy ${SECRET} now` });
    await good.leaveTrace('Buy me a drum');
    const reply = await flood(32).leaveTrace({ text: 'down here', inReplyTo: asked.id });
    const deep = await flood(33).leaveTrace({ text: 'and deeper', inReplyTo: reply.id });
    const reason = ['--reason', 'Advertising', '--yes', '--json'];

    const matching = ['--matching', `buy ${SECRET.toLowerCase()}`];
    const shown = await withhold(data, ...matching, '--after', '1', '--dry-run', '--json');
    const { selected, sample } = JSON.parse(shown.stdout) as { selected: number; sample: string[] };
    assert.deepEqual([selected, new Set(sample).size], [31, 20], shown.stderr);
    const lines = await withhold(data, '--matching', '^buy', '--name-prefix', 'bot-1', ...reason);
    assert.equal((JSON.parse(lines.stdout) as { withheld: number }).withheld, 11, lines.stderr);
    await gateway.stop();
    const rest = await withhold(data, ...matching, ...reason);
    assert.equal((JSON.parse(rest.stdout) as { withheld: number }).withheld, 20, rest.stderr);
    const beneath = await withhold(data, '--beneath', asked.id, ...reason);
    assert.deepEqual((JSON.parse(beneath.stdout) as { first: string[] }).first, [
      reply.id,
      deep.id,
    ]);
    assert.deepEqual(await filesWithSecret(data), []);
    const list = join(data, 'list.txt');
    await writeFile(list, `\n${url}/entries/${asked.id}\n`);
    const listed = await withhold(data, '--from', list, ...reason);
    assert.equal((JSON.parse(listed.stdout) as { withheld: number }).withheld, 1, listed.stderr);
    const wrong = await withhold(data, '--matching', '(', ...reason);
    assert.match(wrong.stderr, /regular expression/i);
    await using after = await startGatewayProcess({ data });
    assert.match(await textsOf(after.url), /Buy me a drum/);
  });

  test('takes an entry that cannot be read by its id, in a folder or beside a gateway', async () => {
    for (const isRunning of [false, true]) {
      await using folder = await dataFolder();
      const first = await startGatewayProcess({ data: folder.path });
      const { url, data } = first;
      const [one = ''] = await fill(url);
      await first.stop();
      const db = new DatabaseSync(join(data, 'log.sqlite'));
      db.exec("UPDATE entries SET link = x'' WHERE seq = 1");
      db.close();
      {
        await using _running = isRunning ? await startGatewayProcess({ data }) : undefined;
        const done = await withhold(data, one, '--reason', 'By law', '--yes');
        assert.equal(done.code, 0, done.stderr);
        assert.match(done.stdout, /1 entry withheld\./);
      }
      await using gateway = await startGatewayProcess({ data });
      // Nothing is left by which it could be shown, but that it happened is counted.
      const { count } = (await (await fetch(`${gateway.url}/api/withheld`)).json()) as {
        readonly count: number;
      };
      assert.equal(count, 1);
      assert.deepEqual(await filesWith(data, `${SECRET} one`), []);
    }
  });

  test('goes on when its reader leaves', async () => {
    await using gateway = await startGatewayProcess();
    const { url, data } = gateway;
    await fill(url);
    const script = 'exec 3>&1; { "$@"; echo $? >&3; } | true';
    const select = ['--data', data, '--identity', SECRET, '--reason', 'Spam', '--yes'];
    const command = [process.execPath, COMMAND, 'withhold', ...select];
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', script, 'sh', ...command]);
    assert.deepEqual([stdout, stderr], ['0\n', '']);
    assert.ok(!(await textsOf(url)).includes(SECRET));
  });

  test('refuses an empty text to look for, which would select everything', async () => {
    await using folder = await dataFolder();
    await using gateway = await startGatewayProcess({ data: folder.path });
    await new Gateway(gateway.url, { identity: 'B' }).leaveTrace('Kept');
    for (const option of ['--name-prefix', '--matching']) {
      const { code, stderr } = await withhold(gateway.data, option, '', '--reason', 'x', '--yes');
      assert.match(stderr, /would select every entry/);
      assert.equal(code, 1);
    }
    assert.match(await textsOf(gateway.url), /Kept/);
  });

  test('says what is missing', async () => {
    await using folder = await dataFolder();
    const runs = [
      await withhold(folder.path, '--identity', 'x', '--yes'),
      await withhold(folder.path, '--identity', 'x', '--yes', '--reason', 'x'),
      await withhold(folder.path, '--identity', 'x', '--dry-run'),
    ];
    assert.deepEqual(pluck(runs, 'code'), [1, 2, 2]);
    assert.match(runs[0]?.stderr ?? '', /--reason/);
    for (const { stderr } of runs.slice(1)) assert.match(stderr, /no log/);
    assert.deepEqual(await readdir(folder.path), []);
  });
});

suite('the socket of the owner', { skip: platform() === 'win32' && 'Windows has none' }, () => {
  test('is for its owner alone, and not reached over the network', async () => {
    await using gateway = await startGatewayProcess();
    const { data, url } = gateway;
    const path = join(data, 'control.sock');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    for (const target of ['/withhold', '/withhold/preview', '/control.sock']) {
      const answer = await fetch(url + target, { method: 'POST', body: '{"ids":[]}' });
      assert.equal(answer.status, 404);
    }
    if (!isRoot) return;
    await chmod(data, 0o755);
    const script = `require('node:net').connect(${JSON.stringify(path)}).on('error', ({ code }) => console.log(code)).on('connect', () => process.exit(9))`;
    const { stdout } = await new Promise<{ stdout: string }>((resolve) => {
      const args = ['--reuid', '65534', '--clear-groups', process.execPath, '-e', script];
      execFile('setpriv', args, (_, out) => resolve({ stdout: out }));
    });
    assert.equal(stdout.trim(), 'EACCES');
  });

  test('is made anew after a kill, at a path of any length', async () => {
    await using folder = await dataFolder();
    const data = join(folder.path, 'long'.repeat(40), 'longer'.repeat(20));
    await mkdir(data, { recursive: true });
    const first = await startGatewayProcess({ data });
    await first.kill();
    assert.ok(existsSync(join(data, 'control.sock')));
    await using second = await startGatewayProcess({ data });
    await fill(second.url);
    const shown = await withhold(data, '-q', SECRET, '--dry-run', '--json');
    assert.equal((JSON.parse(shown.stdout) as { selected: number }).selected, 3, shown.stderr);
  });

  test('refuses what it does not know, and a body that is no JSON', async () => {
    await using gateway = await startGatewayProcess();
    const socketPath = join(gateway.data, 'control.sock');
    const ask = (method: string, path: string, body: string): Promise<number | undefined> =>
      new Promise((resolve) => {
        const sent = request({ socketPath, method, path, agent: false }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        sent.on('error', () => resolve(undefined));
        sent.end(body);
      });
    assert.equal(await ask('GET', '/withhold', ''), 404);
    assert.equal(await ask('POST', '/nothing', '{}'), 404);
    assert.equal(await ask('POST', '/withhold', '{'), undefined);
    assert.equal(await ask('POST', '/withhold/preview', '{"ids":[1]}'), 200);
  });
});
