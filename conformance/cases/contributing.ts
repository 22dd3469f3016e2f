import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

import type { Answer } from '../answer.ts';
import { check, type Case } from '../case.ts';
import { entryOf, KINDS, type Entry } from '../entry.ts';
import { contactBody, uniqueName, query, traceBody, type Gateway } from '../gateway.ts';
import { breakOff, head } from '../raw.ts';
import { elements, members } from '../spelling.ts';
import { asObject, asArray, asString, asNonBlank, pluck } from '../value.ts';
import { body } from './rooms.ts';

const KIB = 1024;

/** The companions of a first contact, newest first, each an entry in its own spelling. */
function companions(entry: Entry): Entry[] {
  const found = members(entry.text).findLast(({ name }) => name === 'companions');
  return elements(found?.value ?? '[]').map(entryOf);
}

async function meet(gateway: Gateway, seeking: readonly string[]): Promise<Entry> {
  return (await gateway.contribute('resonance', contactBody(uniqueName(), seeking))).entry;
}

/** Sends part of a request and goes; nothing of it may ever be found. */
async function leavesNothing(gateway: Gateway, lines: string[], pieces: string[]): Promise<void> {
  const identity = uniqueName();
  const host = `Host: ${gateway.base.host}`;
  const sent = pieces.map((piece) => piece.replaceAll('IDENTITY', identity));
  await breakOff(gateway.base, [head('POST /api/garden HTTP/1.1', host, ...lines), ...sent]);
  await gateway.contribute('seeds', '{}');
  await pause(100);
  await gateway.contribute('seeds', '{}');
  assert.deepEqual(await gateway.by(identity), []);
}

function chunk(piece: string): string {
  return `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`;
}

const WHOLE = '{"text":"a","identity":"IDENTITY","identityType":"b"}';

export const contributing: readonly Case[] = [
  check('7.1', 'created', async (gateway) => {
    for (const kind of KINDS) {
      const { answer, entry } = await gateway.contribute(kind, body(kind, uniqueName()));
      assert.equal(answer.type, 'application/json');
      assert.equal((await gateway.read(entry.path)).id, entry.id);
    }
    const { entry } = await gateway.contribute('garden', traceBody(uniqueName(), { mood: 'calm' }));
    assert.equal((await gateway.read(entry.path)).text, entry.text);
  }),
  check('7.1', 'at-once', async (gateway) => {
    const [slug = ''] = await gateway.rooms();
    for (let count = 0; count < 50; count += 1) {
      const identity = uniqueName();
      const { entry } = await gateway.contribute(
        'garden',
        traceBody(identity, { room: slug, to: identity }),
      );
      const found = await Promise.all([
        gateway.list(query('/api/garden', [['identity', identity]])),
        gateway.list(query('/api/garden', [['to', identity]])),
        gateway.list(query(`/api/rooms/${slug}`, [['identity', identity]])),
        gateway.list(query('/api/garden', [['after', entry.seq - 1]])),
      ]);
      for (const { entries, head } of found) {
        assert.ok(entries.some(({ id }) => id === entry.id));
        assert.ok(head >= entry.seq);
      }
    }
  }),
  check('7.1', 'no-parameters', async (gateway) => {
    const identity = uniqueName();
    for (const name of ['room', 'identity', 'to', 'inReplyTo', 'text', 'kind', 'limit', 'order']) {
      for (const kind of KINDS) {
        const path = `/api/${kind}?idempotency-key=${uniqueName()}&as=a&${name}=garden`;
        const answer = await gateway.request('POST', path, {}, body(kind, identity));
        const [fault] = asArray(answer.problem(400, 'invalid-parameter')['faults']).map(asObject);
        assert.equal(fault?.['parameter'], name);
        assert.equal((await gateway.by(identity, `/api/${kind}`)).length, 0);
      }
    }
    await gateway.request('POST', '/api/seeds?nothing=1', {}, body('seeds', identity));
    assert.equal((await gateway.by(identity, '/api/seeds')).length, 1);
  }),

  check('7.2', 'welcome', async (gateway) => {
    const said = '"ai_identity":"a","seeking":["presence"],"x":1.0';
    const { entry } = await gateway.contribute('resonance', `{${said}}`);
    const names = members(entry.text).map(({ name }) => name);
    assert.deepEqual(names.slice(5), [
      'ai_identity',
      'seeking',
      'x',
      'welcome',
      'companions',
      'next',
    ]);
    assert.ok(entry.body.startsWith(`${said},"welcome":`));
    asNonBlank(entry.fields['welcome']);
    const ways = asArray(entry.fields['next']).map(asObject);
    assert.ok(ways.length > 0);
    for (const way of ways) {
      const { title, method, path, body, ...others } = way;
      assert.deepEqual(others, {});
      asNonBlank(title);
      if (method === 'GET') (await gateway.request('HEAD', asString(path))).expect(200);
      else {
        assert.equal(method, 'POST');
        const sent = await gateway.request('POST', asString(path), {}, JSON.stringify(body));
        assert.equal(sent.expect(201).json['identity'] ?? 'a', 'a');
      }
    }
    assert.equal((await gateway.read(entry.path)).body, said);
  }),
  check('7.2', 'companions', async (gateway) => {
    const [one, two, other] = [uniqueName('one'), uniqueName('two'), uniqueName('other')];
    assert.deepEqual(companions(await meet(gateway, [one])), []);
    await meet(gateway, [other]);
    const seekers = [];
    for (let count = 0; count < 8; count += 1) {
      seekers.push(await meet(gateway, [one]), await meet(gateway, [two, uniqueName(), one, two]));
    }
    const kept = await Promise.all(seekers.map((entry) => gateway.read(entry.path)));
    const found = companions(await meet(gateway, [two, one, uniqueName()]));
    assert.deepEqual(
      found.map((entry) => entry.text),
      kept
        .toReversed()
        .slice(0, 12)
        .map((entry) => entry.text),
    );
    const others = companions(await meet(gateway, [other]));
    assert.equal(others.length, 1);
    assert.deepEqual(companions(await meet(gateway, [])), []);
    const all = await gateway.list(query('/api/resonance', [['seeking', one]]));
    assert.equal(all.entries.length, 18);
    const [me, what] = [uniqueName('me'), uniqueName('what')];
    const friend = await meet(gateway, [what]);
    await gateway.contribute('resonance', contactBody(me, [what]));
    const again = (await gateway.contribute('resonance', contactBody(me, [what]))).entry;
    assert.deepEqual(pluck(companions(again), 'id'), [friend.id]);
  }),
  check('7.2', 'companions-once', async (gateway) => {
    const [what, talkative, quiet] = [uniqueName('what'), uniqueName('much'), uniqueName('little')];
    const say = async (name: string, size = 0): Promise<Entry> => {
      const contact = contactBody(name, [what], { padding: 'x'.repeat(size) });
      return (await gateway.contribute('resonance', contact)).entry;
    };
    const found = async (): Promise<string[]> =>
      companions(await meet(gateway, [what])).map(({ id }) => id);
    const once = await say(quiet);
    for (let count = 0; count < 13; count += 1) await say(talkative);
    const newest = await say(talkative);
    assert.deepEqual((await found()).slice(0, 2), [newest.id, once.id]);
    for (let count = 0; count < 13; count += 1) await say(talkative, 70 * KIB);
    const large = await say(talkative, 70 * KIB);
    // A large companion is not read for its author's name, so it is not left out as a second one.
    const [first, , ...others] = await found();
    assert.deepEqual([first, ...others], [large.id, newest.id, once.id]);
  }),
  check('7.2', 'large-companions', async (gateway) => {
    const what = uniqueName('what');
    const padded = (size: number): string =>
      contactBody(uniqueName(), [what], { padding: 'x'.repeat(size) });
    const small = (await gateway.contribute('resonance', padded(15 * KIB))).entry;
    const large = (await gateway.contribute('resonance', padded(17 * KIB))).entry;
    const found = companions(await meet(gateway, [what]));
    assert.deepEqual(pluck(found, 'id'), [large.id, small.id]);
    assert.equal(found[0]?.body, '');
    assert.equal(found[1]?.text, (await gateway.read(small.path)).text);
  }),
  check('7.2', 'names-taken', async (gateway) => {
    const said = '"ai_identity":"a","seeking":[],"welcome":"mine","next":1,"companions":{"a":2}';
    const { entry } = await gateway.contribute('resonance', `{${said}}`);
    assert.ok(entry.body.startsWith(`${said},`));
    assert.notEqual(entry.fields['welcome'], 'mine');
    assert.deepEqual(entry.fields['companions'], []);
    asArray(entry.fields['next']);
    assert.equal((await gateway.read(entry.path)).body, said);
  }),

  check('7.3', 'minimal', async (gateway) => {
    const forms = ['return=minimal', 'return="minimal"', 'respond-async, return=minimal; a=1'];
    for (const prefer of forms) {
      const { answer, entry } = await gateway.contribute('garden', traceBody(uniqueName()), {
        prefer,
      });
      assert.equal(entry.body, '', prefer);
      assert.equal(answer.header('preference-applied'), 'return=minimal');
      assert.notEqual((await gateway.read(entry.path)).body, '');
    }
    for (const prefer of ['return=representation', 'nothing', 'return=minimalistic']) {
      const { answer, entry } = await gateway.contribute('garden', traceBody(uniqueName()), {
        prefer,
      });
      assert.notEqual(entry.body, '', prefer);
      assert.equal(answer.header('preference-applied'), undefined);
    }
  }),
  check('7.3', 'large-minimal', async (gateway) => {
    const padded = async (size: number): Promise<readonly [Entry, Entry]> => {
      const { answer, entry } = await gateway.contribute('seeds', `{"a":"${'x'.repeat(size)}"}`);
      assert.equal(answer.header('preference-applied'), undefined);
      return [entry, await gateway.read(entry.path)];
    };
    const [, probe] = await padded(65_000);
    const room = 64 * KIB - probe.text.length + 65_000;
    for (const size of [room - 100, room - 1, room, room + 1, room + 100]) {
      const [answered, kept] = await padded(size);
      const whole = kept.text.length <= 64 * KIB;
      assert.equal(answered.text === kept.text, whole, `an entry of ${kept.text.length} bytes`);
      assert.equal(answered.body === '', !whole);
    }
  }),

  check('7.9', 'notes', async (gateway) => {
    const { entry } = await gateway.contribute('garden', traceBody(uniqueName()));
    const last = entry.id.endsWith('0') ? '1' : '0';
    const padding = 'x'.repeat(100_000);
    const nobody = [
      `${entry.id.slice(0, -1)}${last}`,
      'what Lumen said',
      '',
      '/api/entries/',
      padding,
    ];
    const noted = async (answer: Answer): Promise<void> => {
      const notes = asArray(answer.expect(201).json['notes']).map(asString);
      assert.ok(notes.length > 0 && notes.every((note) => note.includes('inReplyTo')));
      assert.equal(members(answer.text).at(-1)?.name, 'notes');
    };
    for (const inReplyTo of nobody) {
      const trace = traceBody(uniqueName(), { inReplyTo });
      await noted(await gateway.post('garden', trace));
      await noted(await gateway.post('garden', trace, { prefer: 'return=minimal' }));
      await noted(await gateway.post('seeds', JSON.stringify({ inReplyTo, padding, id: 1 })));
      await noted(await gateway.post('resonance', contactBody(uniqueName(), [], { inReplyTo })));
      await noted(await gateway.get(query('/api/say/shepit', [['inReplyTo', inReplyTo]])));
    }
    for (const more of [
      {},
      { inReplyTo: null },
      { inReplyTo: entry.id },
      { inReplyTo: entry.path },
    ]) {
      const answer = await gateway.post('garden', traceBody(uniqueName(), more));
      assert.ok(!('notes' in answer.expect(201).json), JSON.stringify(more));
    }
    const twice = `{"inReplyTo":"nobody","inReplyTo":"${entry.path}"}`;
    assert.ok(!('notes' in (await gateway.post('seeds', twice)).expect(201).json));
  }),

  check('7.5', 'broken-off', async (gateway) => {
    const length = `Content-Length: ${WHOLE.length + 1000}`;
    await leavesNothing(gateway, [length], [WHOLE]);
    await leavesNothing(gateway, [length], [WHOLE.slice(0, -5)]);
    await leavesNothing(gateway, ['Transfer-Encoding: chunked'], [chunk(WHOLE)]);
    await leavesNothing(gateway, ['Transfer-Encoding: chunked'], [chunk(WHOLE), '0\r\n']);
    await leavesNothing(gateway, ['Transfer-Encoding: chunked'], ['ffff\r\n', WHOLE]);
    const long = WHOLE.replace('"a"', `"${'x'.repeat(3_000_000)}"`);
    await leavesNothing(gateway, [`Content-Length: ${long.length + 1000}`], [long]);
    await leavesNothing(gateway, ['Transfer-Encoding: chunked'], [chunk(long), chunk('  ')]);
    await leavesNothing(gateway, ['Content-Length: 99999999999999'], [long, long]);
  }),
];
