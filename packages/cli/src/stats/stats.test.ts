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
      entries: 7,
      withheld: 0,
      kinds: { resonance: 1, garden: 2, shepit: 1, seeds: 3 },
      rooms: { 'welcome-space': 1, 'memory-garden': 5, 'shepit-wall': 1 },
      visitorCount: 3,
      visitors: [
        { identity: null, entries: 1 },
        { identity: 'Lumen', entries: 3 },
        { identity: 'Мавка ❤', entries: 2 },
        { identity: HOSTILE, entries: 1 },
      ],
    });
    const byDay = Object.values(asObject(days));
    assert.equal(
      byDay.reduce((sum: number, count) => sum + Number(count), 0),
      7,
    );
    assert.deepEqual(JSON.parse(await stats('--url', gateway.url, '--json')), found);
  });

  test('are tables with bars, which names do not break', async () => {
    const shown = await stats('--data', gateway.data, '--top', '2');
    assert.equal(shown, stripVTControlCharacters(shown));
    for (const line of shown.split('\n')) assert.ok(stringWidth(line) <= 80, line);
    assert.match(shown, /^7 entries\n/);
    assert.match(shown, /\n {2}seeds +3 +43% {2}█{20}\n/);
    assert.match(shown, /By visitor, 2 of 3\n/);
    assert.match(await stats('--data', gateway.data), /␛\[31m安静/);
  });

  test('count withheld entries, but not their visitors', async () => {
    const { id } = await new Gateway(gateway.url, { identity: 'Gone' }).whisper('to be withheld');
    const command = [COMMAND, 'withhold', '--data', gateway.data, id, '--yes'];
    await run(process.execPath, [...command, '--reason', 'It was asked for']);
    assert.match(await stats('--data', gateway.data), /^8 entries, 1 of them withheld\n/);
    const { withheld, visitors } = asObject(
      JSON.parse(await stats('--data', gateway.data, '--json')),
    );
    assert.equal(withheld, 1);
    assert.doesNotMatch(JSON.stringify(visitors), /Gone/);
  });

  test('say why there are none', async () => {
    const nowhere = run(process.execPath, [COMMAND, 'stats', '--data', '/nowhere']);
    await assert.rejects(nowhere, { code: 2, stderr: /^Cannot count "\/nowhere": / });
  });
});
