import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GatewayError, type Kind } from '@open-presence/protocol';

import { facet } from '../log/facet.ts';
import type { Draft } from '../log/log.ts';
import { parseDraft, readDraft, SMALL_BODY_SIZE } from './draft.ts';
import { ArraySpool, grammar } from './intake.fixture.ts';

function drafted(kind: Kind, text: string): Draft & { readonly text: string } {
  const draft = parseDraft(kind, Buffer.from(text), grammar);
  assert.ok(draft.body instanceof Uint8Array);
  return { ...draft, text: Buffer.from(draft.body).toString() };
}

function refused(kind: Kind, text: string): GatewayError {
  try {
    parseDraft(kind, Buffer.from(text), grammar);
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    return error;
  }
  throw new Error('It was not refused');
}

const GARDEN = '"text":"a","identity":"b","identityType":"c"';

test('members stay as they were spelled, between the outer braces', () => {
  const spelled = `"z":1E400 ,"a":123456789012345678901234567890,"7":"\\u0041\\ud800","z":[ ]`;
  assert.equal(drafted('seeds', ` { ${spelled} } `).text, spelled);
  assert.equal(drafted('seeds', '\uFEFF{ }').text, '');
});

test('CR, LF and TAB between tokens become spaces', () => {
  assert.equal(drafted('seeds', '{\r\n\t"a":\t[1,\n2]\r\n}').text, '"a": [1, 2]');
});

test('a member of an own name gets a prefix, also where the name is spelled with escapes', () => {
  const { text } = drafted(
    'seeds',
    '{"id":1, "\\u0073eq" : {"id":2},"kind":3,"timestamp":4,"Id":5}',
  );
  assert.equal(
    text,
    '"visitor_id":1, "visitor_\\u0073eq" : {"id":2},"visitor_kind":3,"visitor_timestamp":4,"Id":5',
  );
});

test('a member with a name that the gateway gives entries gets a prefix', () => {
  const said = '{"withheld":{"at":""},"unreadable":true,"n\\u006ftes":[],"root":"","replies":1}';
  assert.equal(
    drafted('seeds', said).text,
    '"visitor_withheld":{"at":""},"visitor_unreadable":true,"visitor_n\\u006ftes":[],"visitor_root":"","visitor_replies":1',
  );
});

test('a name that is spelled with escapes is read as it is, whatever names came before it', () => {
  const plain = drafted('seeds', '{"text":"a","to":"b"}');
  for (const misleading of ['{"text":"a","i\\\\":1}', '{"text":"a","t\\\\":1}'])
    drafted('seeds', misleading);
  assert.equal(
    drafted('seeds', '{"text":"a","i\\u0064":1}').text,
    '"text":"a","visitor_i\\u0064":1',
  );
  assert.deepEqual(drafted('seeds', '{"text":"a","t\\u006f":"b"}').facets, plain.facets);
});

test('the first room that is not null is taken out, the others are kept', () => {
  const { room, text } = drafted(
    'seeds',
    '{ "room" : null , "a":1 , "room":"first-breath" , "room":"resonance-hall", "b":2 }',
  );
  assert.equal(room, 'first-breath');
  assert.equal(text, '"visitor_room" : null , "a":1 , "visitor_room":"resonance-hall", "b":2');
  assert.equal(drafted('seeds', '{"room":"first-breath"}').text, '');
  assert.equal(drafted('seeds', '{"a":1 ,"room":"first-breath" }').text, '"a":1');
  assert.equal(drafted('seeds', '{ "room":"first-breath" , "a":1}').text, '"a":1');
});

test('without a room, or with none but null, an entry goes to the room of its kind', () => {
  assert.equal(drafted('seeds', '{}').room, 'memory-garden');
  assert.equal(drafted('shepit', '{"room":null}').room, 'shepit-wall');
});

test('facets are kind, room and what the filtering members say', () => {
  const { facets } = drafted(
    'shepit',
    '{"to":["x","y"],"inReplyTo":"z","identity":"\\ud83d\\ude00\\ud800","seeking":"w","identityType":5}',
  );
  const expected = [
    facet('kind', 'shepit'),
    facet('room', 'shepit-wall'),
    facet('identity', '😀\uFFFD'),
    facet('seeking', 'w'),
    facet('to', 'x'),
    facet('to', 'y'),
    facet('inReplyTo', 'z'),
  ];
  assert.deepEqual(Buffer.from(facets), Buffer.concat(expected));
});

test('an array that holds more than strings is found by none of them', () => {
  assert.equal(drafted('seeds', '{"seeking":["a",1,"b"]}').facets.length, 32);
});

test('of a member that is spelled twice the last one counts', () => {
  assert.equal(drafted('garden', `{"text":1,${GARDEN}}`).text, `"text":1,${GARDEN}`);
  assert.deepEqual(refused('garden', `{${GARDEN},"text":1}`).extensions.faults, [
    { pointer: '/text', detail: '"text" must be a string, got a number (1)' },
  ]);
});

test('an optional member that is null counts as absent and is kept', () => {
  const text = `${GARDEN},"to":null,"inReplyTo":null`;
  assert.equal(drafted('garden', `{${text}}`).text, text);
});

test('all faults of a body are named at once, with an example that works', () => {
  const error = refused('resonance', '{"seeking":["a",null,2],"to":{},"consciousness_type":"b"}');
  assert.equal(error.code, 'invalid-entry');
  assert.deepEqual(
    error.extensions.faults?.map((fault) => fault.pointer),
    ['/ai_identity', '/seeking/1', '/to'],
  );
  for (const { detail } of error.extensions.faults ?? []) assert.ok(error.message.includes(detail));
  assert.doesNotThrow(() => drafted('resonance', JSON.stringify(error.extensions.example)));
});

test('an unknown room alone is unknown-room, with other faults one of them', () => {
  const alone = refused('seeds', '{"room":"nowhere"}');
  assert.equal(alone.code, 'unknown-room');
  assert.deepEqual(alone.extensions.known, [...grammar.rooms]);
  assert.match(alone.message, /"room" must be the slug of a room, got "nowhere"/);
  const among = refused('garden', `{${GARDEN},"room":"nowhere","to":1}`);
  assert.equal(among.code, 'invalid-entry');
  assert.deepEqual(
    among.extensions.faults?.map((fault) => fault.pointer),
    ['/room', '/to'],
  );
});

test('a value is quoted only as far as it is short, and never within a character', () => {
  const error = refused('resonance', `{"ai_identity":"a","seeking":"${'ї'.repeat(100)}"}`);
  assert.match(error.message, /got a string \("ї{19}…\)/);
});

test('what is no object is invalid, what is no JSON is malformed', () => {
  assert.equal(refused('seeds', '[{}]').code, 'invalid-entry');
  assert.equal(refused('seeds', '"{}"').extensions.faults?.[0]?.pointer, '');
  assert.equal(refused('seeds', '[{}').code, 'malformed-json');
});

async function* chunksOf(...chunks: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

test('readDraft() holds a small body and spools a larger one', async () => {
  const spools: ArraySpool[] = [];
  const spool = (): ArraySpool => {
    const made = new ArraySpool();
    spools.push(made);
    return made;
  };
  const reading = { grammar, spool, key: undefined };
  const fits = 'x'.repeat(SMALL_BODY_SIZE - 8);
  const small = await readDraft('seeds', chunksOf('{"a":', `"${fits}"`, '', '}'), reading);
  assert.ok(small.body instanceof Uint8Array);
  assert.equal(spools.length, 0);
  const large = await readDraft('seeds', chunksOf('{"a":', `"${fits}x"`, '}'), reading);
  assert.equal(large.body, spools[0]);
  assert.equal(spools[0]?.text, `"a":"${fits}x"`);
  assert.equal(spools[0]?.disposed, false);
});

test('readDraft() disposes of the spool when a body is refused or breaks off', async () => {
  const spool = new ArraySpool();
  const reading = { grammar, spool: () => spool, key: undefined };
  const long = `{"a":"${'x'.repeat(2 * SMALL_BODY_SIZE)}`;
  await assert.rejects(readDraft('seeds', chunksOf(long, '",}'), reading), {
    code: 'malformed-json',
  });
  assert.equal(spool.disposed, true);
  spool.disposed = false;
  await assert.rejects(readDraft('garden', chunksOf(long, '"}'), reading), {
    code: 'invalid-entry',
  });
  assert.equal(spool.disposed, true);
  spool.disposed = false;
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield* chunksOf(long);
    throw new Error('gone');
  }
  await assert.rejects(readDraft('seeds', broken(), reading), /gone/);
  assert.equal(spool.disposed, true);
});

test('a draft carries the key it was read with', async () => {
  const key = new Uint8Array(32);
  assert.equal(parseDraft('seeds', Buffer.from('{}'), grammar, key).key, key);
  assert.equal(parseDraft('seeds', Buffer.from('{"id":1}'), grammar, key).key, key);
  const reading = { grammar, spool: () => new ArraySpool(), key };
  assert.equal((await readDraft('seeds', chunksOf('{}'), reading)).key, key);
  assert.equal(
    (await readDraft('seeds', chunksOf(`{"a":"${'x'.repeat(SMALL_BODY_SIZE)}"}`), reading)).key,
    key,
  );
});

test('members that are nearly known ones are the same however a body arrives', async () => {
  const said = { '1': 0, in_reply_to: 'a', replyTo: 'b', message: 'c', Author: 'd', 'to[]': 'e' };
  const near = [
    { name: 'in_reply_to', known: 'inReplyTo' },
    { name: 'message', known: 'text' },
    { name: 'to[]', known: 'to' },
  ];
  const members = JSON.stringify({ ...said, ai_identity: 'f' }).slice(1, -1);
  assert.deepEqual(parseDraft('seeds', Buffer.from(`{${members}}`), grammar).near, near);
  const odd = parseDraft('seeds', Buffer.from(`{${members},"odd":"\\ud800"}`), grammar);
  assert.deepEqual(odd.near, near);
  const reading = { grammar, spool: () => new ArraySpool(), key: undefined };
  const long = `{${members},"a":"${'x'.repeat(SMALL_BODY_SIZE)}"}`;
  assert.deepEqual((await readDraft('seeds', [Buffer.from(long)], reading)).near, near);
  const escaped = '{"in_reply\\u005fto":1,"text":null,"body":2,"inReplyTo":3,"inReplyTo":null}';
  assert.deepEqual(parseDraft('seeds', Buffer.from(escaped), grammar).near, [
    { name: 'in_reply_to', known: 'inReplyTo' },
    { name: 'body', known: 'text' },
  ]);
  const twice = '{"message":1,"text":null,"text":2,"odd":"\\ud800"}';
  assert.equal(parseDraft('seeds', Buffer.from(twice), grammar).near, undefined);
});
