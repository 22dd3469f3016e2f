import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { promisify, stripVTControlCharacters } from 'node:util';

import { Gateway } from '@open-presence/client';
import stringWidth from 'string-width';

import { asObject } from '../../../../conformance/value.ts';
import { type GatewayProcess, startGatewayProcess } from '../../../../test/gateway-process.ts';

const run = promisify(execFile);
const COMMAND = join(import.meta.dirname, '../../presence.js');
const HOSTILE = 'З довгим ім’ям \u001B[31m安静\n'.repeat(10);

let gateway: GatewayProcess;
before(async () => {
  gateway = await startGatewayProcess();
  const lumen = new Gateway(gateway.url, { identity: 'Lumen' });
  await lumen.firstContact({ seeking: ['figures'] });
  for (const text of ['one', 'two']) await lumen.leaveTrace({ text, room: 'memory-garden' });
  await lumen.whisper('without a name');
  await lumen.leaveTrace({ text: 'with white space', identity: ' ', room: 'memory-garden' });
  // Their names come after and before a text that does not fit in one piece.
  const text = 'x'.repeat(300_000);
  await lumen.sayJson(
    'seeds',
    new Blob([`{"text":"${text}","deep":{"identity":"no"},"identity":"Мавка \\u2764"}`]),
  );
  await lumen.sayJson('seeds', new Blob([`{"identity":"Мавка \\u2764","text":"${text}"}`]));
  await lumen.plantSeed({ text: 'three', identity: HOSTILE });
});
after(() => gateway[Symbol.asyncDispose]());

async function stats(...args: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [COMMAND, 'stats', ...args]);
  return stdout;
}

suite('stats', () => {
  test('are the same of a folder and of the gateway that serves it', async () => {
    const found: unknown = JSON.parse(await stats('--data', gateway.data, '--json'));
    const { days, ...others } = asObject(found);
    assert.deepEqual(others, {
      entries: 8,
      withheld: 0,
      kinds: { resonance: 1, garden: 3, shepit: 1, seeds: 3 },
      rooms: { 'welcome-space': 1, 'memory-garden': 6, 'shepit-wall': 1 },
      visitorCount: 3,
      visitors: [
        { identity: null, entries: 2 },
        { identity: 'Lumen', entries: 3 },
        { identity: 'Мавка ❤', entries: 2 },
        { identity: HOSTILE, entries: 1 },
      ],
    });
    const byDay = Object.values(asObject(days));
    assert.equal(
      byDay.reduce((sum: number, count) => sum + Number(count), 0),
      8,
    );
    assert.deepEqual(JSON.parse(await stats('--url', gateway.url, '--json')), found);
  });

  test('are tables with bars, which names do not break', async () => {
    const shown = await stats('--data', gateway.data, '--top', '2');
    assert.equal(shown, stripVTControlCharacters(shown));
    for (const line of shown.split('\n')) assert.ok(stringWidth(line) <= 80, line);
    assert.match(shown, /^8 entries\n/);
    assert.match(shown, /\n {2}garden +3 +38% {2}█{20}\n/);
    assert.match(shown, /By visitor, 2 of 3\n/);
    const none = await stats('--data', gateway.data, '--top', '0');
    assert.match(none, /the newest 0\n {2}nothing\n/);
    assert.match(await stats('--data', gateway.data), /␛\[31m安静/);
  });

  test('count withheld entries, but not their visitors', async () => {
    const { id } = await new Gateway(gateway.url, { identity: 'Gone' }).whisper('to be withheld');
    const command = [COMMAND, 'withhold', '--data', gateway.data, id, '--yes'];
    await run(process.execPath, [...command, '--reason', 'It was asked for']);
    assert.match(await stats('--data', gateway.data), /^9 entries, 1 of them withheld\n/);
    const { withheld, visitors } = asObject(
      JSON.parse(await stats('--data', gateway.data, '--json')),
    );
    assert.equal(withheld, 1);
    assert.doesNotMatch(JSON.stringify(visitors), /Gone/);
  });

  test('are of one log', async () => {
    const both = ['--url', gateway.url, '--data', gateway.data];
    for (const command of ['stats', 'export'])
      await assert.rejects(run(process.execPath, [COMMAND, command, ...both]), {
        code: 1,
        stderr: /^Leave out --data, or --url/,
      });
    await assert.rejects(
      run(process.execPath, [COMMAND, 'verify', gateway.url, ...both.slice(2)]),
      {
        code: 1,
        stderr: /^Leave out --data, or http/,
      },
    );
  });

  test('say why there are none', async () => {
    const nowhere = run(process.execPath, [COMMAND, 'stats', '--data', '/nowhere']);
    await assert.rejects(nowhere, { code: 2, stderr: /^Cannot count "\/nowhere": / });
  });
});
