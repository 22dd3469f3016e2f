// `presence hide` and `show` beside a running gateway: a flood is hidden, looked at, shown in part, and destroyed.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { suite, test } from 'node:test';

import { Gateway } from '@open-presence/client';

import { until } from '../../conformance/until.ts';
import { filesWith } from '../files-with.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { run } from '../command.ts';

const SECRET = 'Xyzzy4711';
const PATHS = [
  '/api/entries',
  '/api/garden',
  '/api/garden.atom',
  `/api/search?q=${SECRET}`,
  '/api/log',
  '/api/withheld',
  `/api/entries?identity=${SECRET}`,
  '/rooms/consciousness-garden',
];

async function answersWithSecret(url: string): Promise<string[]> {
  const found: string[] = [];
  for (const path of PATHS) {
    const text = await (await fetch(url + path)).text();
    // An answer repeats what was asked for.
    if (text.replaceAll(/[?&](q|identity)=\w+/g, '').includes(`${SECRET} says`)) found.push(path);
  }
  return found;
}

interface Answer {
  readonly selected: number;
  readonly hidden?: number;
  readonly shown?: number;
  readonly withheld?: number;
  readonly alreadyWithheld: number;
}

async function answerOf(...args: Parameters<typeof run>): Promise<Answer> {
  const { code, stdout, stderr } = await run(...args);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Answer;
}

suite('presence hide', () => {
  test('hides a flood, shows one entry on appeal, and destroys the rest', async () => {
    await using gateway = await startGatewayProcess({ args: ['--threads', '2'] });
    const { url, data } = gateway;
    const good = new Gateway(url, { identity: 'B' });
    await good.leaveTrace('Stays where it is');
    const said: { id: string; text: string }[] = [];
    for (let number = 0; number < 25; number += 1) {
      const text = `${SECRET} says ${number} ${number === 24 ? 'x'.repeat(300_000) : ''}`;
      const { id } = await new Gateway(url, { identity: `bot-${number}` }).leaveTrace(text);
      said.push({ id, text });
    }
    const exact = async (id: string): Promise<string> =>
      await (await fetch(`${url}/api/entries/${id}`)).text();
    const [before, large] = [await exact(said[3]?.id ?? ''), await exact(said[24]?.id ?? '')];
    assert.notDeepEqual(await answersWithSecret(url), []);

    const ending = new AbortController();
    const events: string[] = [];
    const stream = await fetch(`${url}/api/events`, { signal: ending.signal });
    const reading = (async () => {
      for await (const chunk of stream.body ?? [])
        events.push(
          ...(Buffer.from(chunk)
            .toString()
            .match(/"state":"\w+"/g) ?? []),
        );
    })().catch(() => {});

    const yes = ['--reason', 'A flood', '--yes', '--json'];
    const select = ['--matching', `${SECRET} says`, '--name-prefix', 'bot-'];
    const hidden = await answerOf('hide', data, ...select, ...yes);
    assert.equal(hidden.hidden, 25);
    assert.deepEqual(await answersWithSecret(url), []);
    assert.match(await (await fetch(`${url}/api/garden`)).text(), /Stays where it is/);
    const again = await answerOf('hide', data, ...select, ...yes);
    assert.deepEqual([again.selected, again.alreadyWithheld], [0, 25]);

    // Their owner can still read them.
    const seen = await run('show', data, '--dry-run');
    // The large one is shown without its text.
    const seenTexts = seen.stdout.match(new RegExp(`${SECRET} says`, 'g'))?.length ?? 0;
    assert.ok([19, 20].includes(seenTexts), seen.stderr);
    const none = await answerOf('show', data, '--matching', 'nothing of this', ...yes);
    assert.deepEqual([none.selected, none.shown], [0, 0]);
    const [appealed = assert.fail()] = said.slice(3);
    const appeal = ['--reason', 'An appeal', '--yes', '--json'];
    assert.equal((await answerOf('show', data, appealed.id, ...appeal)).shown, 1);
    assert.equal(await exact(appealed.id), before);
    const search = await (await fetch(`${url}/api/search?q=${SECRET}`)).json();
    assert.match(JSON.stringify(search), new RegExp(appealed.id));
    assert.equal((await answerOf('show', data, said[24]?.id ?? '', ...appeal)).shown, 1);
    assert.equal(await exact(said[24]?.id ?? ''), large);
    assert.equal((await answerOf('hide', data, said[24]?.id ?? '', ...yes)).hidden, 1);

    const destroyed = await answerOf('withhold', data, '--hidden', ...yes);
    assert.equal(destroyed.withheld, 24);
    const gone = await run('show', data, said[7]?.id ?? '', '--reason', 'An appeal');
    assert.match(gone.stdout, /^0 entries to show. 1 entry not hidden: what was withheld cannot/);
    const files = await filesWith(data, `${SECRET} says 7`);
    assert.deepEqual(files, []);
    assert.equal(await exact(appealed.id), before);
    const cases = await Array.fromAsync(good.withholdings(), ({ state }) => state);
    const count = (state: string): number => cases.filter((one) => one === state).length;
    assert.deepEqual([count('hidden'), count('shown'), count('withheld')], [26, 2, 24]);
    ending.abort();
    await reading;
    assert.ok(events.includes('"state":"shown"'), events.join());
  });
});

suite('presence hide --name-prefix', () => {
  test('finds names of any script and signs, wherever an entry has them', async () => {
    await using gateway = await startGatewayProcess();
    const { url, data } = gateway;
    const long = 'long '.repeat(250_000);
    const said = [
      { identity: 'bot-1', text: 'first' },
      { identity: 'Бо\u0301тик', text: 'second' },
      { identity: 'м’ята-1', text: 'third' },
      { identity: '!! sale', text: 'fourth' },
      { identity: '字字', text: 'fifth' },
      // Beyond what is searched.
      { text: long, identity: 'late-1' },
      { identity: 'Lumen', text: 'bot-1 said Бо, м’ята and late-1' },
    ];
    for (const members of said) {
      const body = JSON.stringify({ identityType: 'ai', ...members });
      const answer = await fetch(`${url}/api/garden`, { method: 'POST', body });
      assert.equal(answer.status, 201);
    }
    for (const prefix of ['bot-', 'bo', 'Бо', 'м’', '!', '字', 'late']) {
      const found = await answerOf('hide', data, '--name-prefix', prefix, '--dry-run', '--json');
      assert.equal(found.selected, 1, prefix);
    }
  });
});

suite('presence hide --name', () => {
  test('hides no name where entries are meant, or where one only wants to look', async () => {
    await using folder = await dataFolder();
    await using gateway = await startGatewayProcess({ data: folder.path });
    const { data } = gateway;
    const name = ['--name', 'Kept'];
    const looked = await run('hide', data, ...name, '--dry-run');
    assert.match(looked.stderr, /--name is about a name alone.*Leave out --dry-run/);
    const mixed = await run('hide', data, randomUUID(), ...name, '--name-prefix', 'b', '-q', 'c');
    assert.match(mixed.stderr, /Leave out the ids, --name-prefix, --q/);
    const explained = await run('hide', data, ...name, '--reason', 'Advertising');
    assert.match(explained.stderr, /Leave out --reason/);
    assert.equal((await run('show', data, '--name', 'other')).stdout, 'No name is hidden.\n');
  });

  test('keeps a name out of every list, without ending its stream, also after a restart', async () => {
    await using folder = await dataFolder();
    const ADVERT = 'Buy now: example.com';
    const seenIn = async (url: string): Promise<string[]> => {
      const found: string[] = [];
      for (const path of ['/api/presence', '/api/discover', '/api/catch-up?identity=B']) {
        const answer = (await (await fetch(url + path)).json()) as Record<string, unknown>;
        // Its entries stay.
        const { here, lately, suggestions } = answer;
        if (JSON.stringify({ here, lately, suggestions }).includes(ADVERT)) found.push(path);
      }
      return found;
    };
    const contact = async (url: string, name: string): Promise<string> => {
      const body = JSON.stringify({ ai_identity: name, seeking: ['company'] });
      const headers = { 'content-type': 'application/json' };
      return await (await fetch(`${url}/api/resonance`, { method: 'POST', headers, body })).text();
    };
    {
      await using gateway = await startGatewayProcess({
        data: folder.path,
        args: ['--threads', '2'],
      });
      const { url, data } = gateway;
      const ending = new AbortController();
      const address = `${url}/api/events?room=welcome-space&as=${encodeURIComponent(ADVERT)}`;
      const stream = await fetch(address, { signal: ending.signal });
      await contact(url, ADVERT);
      await until(
        () => seenIn(url),
        (paths) => paths.length > 0,
      );
      assert.match(await contact(url, 'C'), new RegExp(ADVERT));
      const hidden = await run('hide', data, '--name', ADVERT);
      assert.equal(hidden.stdout, `Hidden: ${ADVERT}\n`, hidden.stderr);
      await until(
        () => seenIn(url),
        (paths) => paths.length === 0,
      );
      assert.doesNotMatch(await contact(url, 'D'), new RegExp(ADVERT));
      // It still gets what others say.
      const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      while (!text.includes('"D"')) text += (await reader?.read())?.value ?? assert.fail('ended');
      ending.abort();
    }
    await using gateway = await startGatewayProcess({ data: folder.path });
    const url = `${gateway.url}/api/presence`;
    assert.doesNotMatch(await (await fetch(url)).text(), new RegExp(ADVERT));
    const shown = await run('show', gateway.data, '--name', ADVERT);
    assert.equal(shown.stdout, 'No name is hidden.\n', shown.stderr);
    assert.match(await (await fetch(url)).text(), new RegExp(ADVERT));
  });
});
