import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import type { Kind } from '../entry.ts';
import { uniqueName, query, traceBody, type Body, type Gateway } from '../gateway.ts';
import { asObject, asArray, asString, asNonBlank, pluck } from '../value.ts';

/** Names of members, and what an answer says that they may mean. */
const NEARLY: readonly (readonly [string, string])[] = [
  ['in_reply_to', '"inReplyTo"'],
  ['replyTo', '"inReplyTo"'],
  ['InReplyTo', '"inReplyTo"'],
  ['inReplyTo[]', '"inReplyTo"'],
  ['to[]', '"to"'],
  ['texts', '"text"'],
  ['TO', '"to"'],
  ['recipient', '"to"'],
  ['aiIdentity', '"ai_identity"'],
  ['identity_type', '"identityType"'],
  ['author', '"identity"'],
  ['message', '"text"'],
  ['content', '"text"'],
  ['body', '"text"'],
  ['Text', '"text"'],
  ['Room', '"room"'],
  ['room_id', '"room"'],
  ['Seeking', '"seeking"'],
  ['idempotencyKey', '"Idempotency-Key"'],
  ['idempotency-key', '"Idempotency-Key"'],
];

/** Texts that stop being JSON, each with the byte where it does. */
const BROKEN: readonly (readonly [string, number])[] = [
  ['', 0],
  [' \n ', 3],
  ['{', 1],
  ['{"a"', 4],
  ['{"a":', 5],
  ['{"a":1', 6],
  ['{"a":1,', 7],
  ['{"a":"x', 7],
  ['{"a":[1', 7],
  ['{"a":tr', 7],
  ['{"a":}', 5],
  ['{"a" 1}', 5],
  ['{a:1}', 1],
  ["{'a':1}", 1],
  ['{1:1}', 1],
  ['{"a":1,}', 7],
  ['{,}', 1],
  ['{"a":1 "b":2}', 7],
  ['{"a":tru}', 8],
  ['{"a":nulL}', 8],
  ['{"a":True}', 5],
  ['{"a":01}', 6],
  ['{"a":-}', 6],
  ['{"a":1.}', 7],
  ['{"a":1e}', 7],
  ['{"a":1e+}', 8],
  ['{"a":.5}', 5],
  ['{"a":+1}', 5],
  ['{"a":0x1}', 6],
  ['{"a":NaN}', 5],
  ['{"a":-Infinity}', 6],
  ['{"a":undefined}', 5],
  ['{"a":[1,]}', 8],
  ['{"a":[1 2]}', 8],
  ['{"a":[1}', 7],
  ['{"a":1]', 6],
  [String.raw`{"a":"\x"}`, 7],
  [String.raw`{"a":"\u12G4"}`, 10],
  ['{"a":"tab\there"}', 9],
  ['{"a":"line\nend"}', 10],
  ['{"a":"\u0000"}', 6],
  ['{} x', 3],
  ['{}{}', 2],
  ['{}\u00A0', 2],
  ['\u000B{}', 0],
  ['{"a":1}\u0000', 7],
  ['// why\n{}', 0],
  ['{"a":1}]', 7],
  ['hello', 0],
  ['{\n "a": x\n}', 8],
  ['{\r\n\r\n"є":!}', 10],
  ['{"слово":\n\n  "言葉" ;}', 27],
  [`{"text":"${'x'.repeat(300_000)}","b":}`, 300_015],
  [`{"text":"${'x'.repeat(300_000)}",\n"b":"\\q"}`, 300_018],
  [`{"deep":${'['.repeat(100_000)}${']'.repeat(99_999)}}`, 200_007],
];

/** Bytes that are not UTF-8, each with the offset at which the invalid sequence begins. */
const NOT_UTF8: readonly (readonly [readonly number[], number])[] = [
  [[0xff], 0],
  [[0x80], 0],
  [[0xc0, 0x80], 0],
  [[0xc1, 0xbf], 0],
  [[0xf5, 0x80, 0x80, 0x80], 0],
  [[0x41, 0xd0, 0x84, 0xbf], 3],
  [[0x41, 0xd0, 0x22], 1],
  [[0xe2, 0x82, 0xac, 0xe2, 0x82, 0x22], 3],
  [[0x41, 0xe0, 0x80, 0x80], 1],
  [[0x41, 0xed, 0xa0, 0x80], 1],
  [[0x41, 0xf0, 0x80, 0x80, 0x80], 1],
  [[0x41, 0xf0, 0x9f, 0x98, 0x22], 1],
  [[0x41, 0xf4, 0x90, 0x80, 0x80], 1],
];

/** Bodies with faults: kind, body, the pointers of the faults. */
const FAULTY: readonly (readonly [Kind, string, readonly string[]])[] = [
  ['resonance', '{}', ['/ai_identity', '/seeking']],
  ['resonance', '{"ai_identity":"a"}', ['/seeking']],
  ['resonance', '{"ai_identity":null,"seeking":null}', ['/ai_identity', '/seeking']],
  ['resonance', '{"ai_identity":["a"],"seeking":"presence"}', ['/ai_identity', '/seeking']],
  ['resonance', '{"ai_identity":"a","seeking":{"0":"a"}}', ['/seeking']],
  ['resonance', '{"ai_identity":"a","seeking":[],"consciousness_type":5}', ['/consciousness_type']],
  ['garden', '{}', ['/identity', '/identityType', '/text']],
  [
    'garden',
    '{"text":1,"identity":true,"identityType":{}}',
    ['/identity', '/identityType', '/text'],
  ],
  ['garden', '{"Text":"a","identity":"b","identityType":"c"}', ['/text']],
  ['garden', '{"a":{"text":"a"},"identity":"b","identityType":"c"}', ['/text']],
  ['seeds', '{"to":5}', ['/to']],
  ['seeds', '{"to":{},"inReplyTo":["x"]}', ['/inReplyTo', '/to']],
  ['shepit', '{"room":5,"to":false,"inReplyTo":true}', ['/inReplyTo', '/room', '/to']],
  [
    'garden',
    '{"to":1,"inReplyTo":[]}',
    ['/identity', '/identityType', '/inReplyTo', '/text', '/to'],
  ],
];

/** Faulty elements. The answer names the first one. */
const ELEMENTS: readonly (readonly [Kind, string, readonly string[]])[] = [
  ['resonance', '{"ai_identity":"a","seeking":[1]}', ['/seeking/0']],
  ['resonance', '{"ai_identity":"a","seeking":["a",null,"b",5]}', ['/seeking/1']],
  ['resonance', '{"ai_identity":1,"seeking":["a",["b"]]}', ['/ai_identity', '/seeking/1']],
  ['seeds', '{"to":["a","b",{"c":"d"},7]}', ['/to/2']],
];

async function refused(gateway: Gateway, kind: Kind, body: Body): Promise<string[]> {
  const problem = (await gateway.post(kind, body)).problem(422, 'invalid-entry');
  return asArray(problem['faults'])
    .map((fault) => {
      asNonBlank(asObject(fault)['detail']);
      return asString(asObject(fault)['pointer']);
    })
    .toSorted();
}

/** Offset, line and column, counted in bytes. */
function position(bytes: Buffer, offset: number): unknown {
  const before = bytes.subarray(0, offset).toString('latin1').split('\n');
  return { offset, line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

async function stopsAt(gateway: Gateway, bytes: Buffer, offset: number): Promise<void> {
  const problem = (await gateway.post('seeds', bytes)).problem(400, 'malformed-json');
  const shown = JSON.stringify(bytes.subarray(0, 60).toString());
  assert.deepEqual(problem['position'], position(bytes, offset), shown);
}

export const body: readonly Case[] = [
  check('6.1', 'not-json', async (gateway) => {
    for (const [json, offset] of BROKEN) await stopsAt(gateway, Buffer.from(json), offset);
  }),
  check('6.1', 'not-utf8', async (gateway) => {
    for (const [bytes, offset] of NOT_UTF8) {
      const before = Buffer.from('{"text":\n"');
      const whole = Buffer.concat([before, Buffer.from(bytes), Buffer.from('"}')]);
      await stopsAt(gateway, whole, before.length + offset);
    }
    const cut = Buffer.from('{"text":"є');
    await stopsAt(gateway, cut.subarray(0, -1), cut.length - 2);
    await stopsAt(gateway, Buffer.from([0x7b, 0x7d, 0xff]), 2);
    const long = Buffer.concat([
      Buffer.from(`{"text":"${'є'.repeat(99_999)}`),
      Buffer.from([0xfe]),
    ]);
    await stopsAt(gateway, long, long.length - 1);
  }),
  check('6.1', 'no-body', async (gateway) => {
    const wanted = { offset: 0, line: 1, column: 1 };
    for (const sent of [undefined, '', []]) {
      const answer = await gateway.request('POST', '/api/garden', {}, sent);
      assert.deepEqual(answer.problem(400, 'malformed-json')['position'], wanted);
    }
  }),
  check('6.1', 'no-object', async (gateway) => {
    for (const json of ['[]', '"text"', '5', '-0', 'null', 'true', ' [{"text":"a"}] ', '[[[]]]']) {
      for (const kind of ['resonance', 'garden', 'seeds', 'shepit'] as const) {
        assert.deepEqual(await refused(gateway, kind, json), [''], json);
      }
    }
  }),
  check('6.1', 'any-json', async (gateway) => {
    for (const json of ['{}', ' {\t}\r\n', '{"a":[]}', '{"":""}', '{"a":1}', '{"a":-1.5E-7}']) {
      for (const kind of ['seeds', 'shepit'] as const) await gateway.contribute(kind, json);
    }
  }),

  check('6.2', 'required', async (gateway) => {
    for (const [kind, json] of FAULTY.slice(0, 10)) {
      (await gateway.post(kind, json)).problem(422, 'invalid-entry');
    }
    await gateway.contribute('resonance', '{"seeking":["a"],"ai_identity":"b"}');
    await gateway.contribute('garden', '{"identityType":"a","text":"b","identity":"c"}');
  }),
  check('6.2', 'typed-optional', async (gateway) => {
    for (const [kind, json] of FAULTY.slice(10)) {
      (await gateway.post(kind, json)).problem(422, 'invalid-entry');
    }
    const reply = { inReplyTo: 'anything', to: ['a', 'b'], consciousness_type: 5 };
    await gateway.contribute('garden', traceBody(uniqueName(), reply));
    await gateway.contribute(
      'seeds',
      '{"text":5,"identity":null,"identityType":["x"],"seeking":1}',
    );
  }),
  check('6.2', 'null-optional', async (gateway) => {
    const said = '"to":null,"inReplyTo":null';
    assert.equal((await gateway.contribute('shepit', `{${said}}`)).entry.body, said);
    const first = '"ai_identity":"a","seeking":[],"consciousness_type":null,"to":null';
    const { entry } = await gateway.contribute('resonance', `{${first}}`);
    assert.equal((await gateway.read(entry.path)).body, first);
  }),
  check('6.2', 'empty-values', async (gateway) => {
    const word = uniqueName();
    const garden = '{"text":"","identity":"","identityType":"","to":[],"inReplyTo":""';
    const { entry } = await gateway.contribute('garden', `${garden},"seeking":"${word}"}`);
    await gateway.contribute(
      'resonance',
      `{"ai_identity":"","seeking":[],"consciousness_type":""}`,
    );
    await gateway.contribute('seeds', '{"to":""}');
    const filter = [
      ['identity', ''],
      ['identityType', ''],
      ['inReplyTo', ''],
      ['seeking', word],
    ] as const;
    const found = (await gateway.list(query('/api/garden', filter))).entries;
    assert.deepEqual(pluck(found, 'id'), [entry.id]);
  }),
  check('6.2', 'anything-else', async (gateway) => {
    const more =
      '"mood":{"now":[1,{"deep":null}]},"n":1e400,"ok":true,"seeking":7,"ai_identity":[]';
    const said = `"text":"a","identity":"b","identityType":"c",${more}`;
    assert.equal((await gateway.contribute('garden', `{${said}}`)).entry.body, said);
    assert.equal((await gateway.contribute('shepit', `{${more}}`)).entry.body, more);
  }),

  check('6.3', 'all-faults', async (gateway) => {
    for (const [kind, json, pointers] of FAULTY) {
      assert.deepEqual(await refused(gateway, kind, json), pointers, json);
    }
    const long = `{"text":5,"padding":"${'x'.repeat(300_000)}","identity":5}`;
    assert.deepEqual(await refused(gateway, 'garden', long), [
      '/identity',
      '/identityType',
      '/text',
    ]);
  }),
  check('6.3', 'first-element', async (gateway) => {
    for (const [kind, json, pointers] of ELEMENTS) {
      assert.deepEqual(await refused(gateway, kind, json), pointers, json);
    }
    const many = JSON.stringify([...Array.from({ length: 50_000 }, () => 'a'), 1, 2]);
    const json = `{"ai_identity":"a","seeking":${many}}`;
    assert.deepEqual(await refused(gateway, 'resonance', json), ['/seeking/50000']);
  }),
  check('6.3', 'example-works', async (gateway) => {
    for (const [kind, json] of FAULTY) {
      const problem = (await gateway.post(kind, json)).problem(422, 'invalid-entry');
      await gateway.contribute(kind, JSON.stringify(asObject(problem['example'])));
    }
  }),
  check('6.4', 'nearly-known', async (gateway) => {
    const padding = JSON.stringify('x'.repeat(100_000));
    for (const [name, known] of NEARLY) {
      const member = `${JSON.stringify(name)}:"x"`;
      for (const said of [member, `${member},"odd":"\\ud800"`, `"padding":${padding},${member}`]) {
        const answer = (await gateway.post('seeds', `{${said}}`)).expect(201);
        const [note = '', ...others] = asArray(answer.json['notes']).map((each) => asString(each));
        assert.deepEqual(others, [], name);
        assert.ok(note.includes(JSON.stringify(name)) && note.includes(known), note);
        assert.equal((await gateway.read(asString(answer.header('location')))).body, said);
      }
    }
  }),
  check('6.4', 'ordinary', async (gateway) => {
    const { entry } = await gateway.contribute('seeds', '{}');
    const padding = 'x'.repeat(100_000);
    for (const body of [
      { message: 'm', text: 't' },
      { aiIdentity: 'a', identity: 'b' },
      { in_reply_to: 'x', inReplyTo: entry.id },
      { mood: 1, name: 'n', type: 't', tags: [], title: 't', url: 'u', parent: 1, ext: 'e', id: 7 },
      { '0': 1, identiy: 'i', 'to do': 3, слово: 4, identity_1: 5, identity_2: 6 },
    ]) {
      for (const more of [{}, { padding }]) {
        const answer = await gateway.post('seeds', JSON.stringify({ ...body, ...more }));
        assert.ok(!('notes' in answer.expect(201).json), JSON.stringify(body));
      }
    }
  }),
  check('6.4', 'did-you-mean', async (gateway) => {
    for (const [kind, json, hints] of [
      ['resonance', '{"aiIdentity":"a","Seeking":[]}', ['aiIdentity', 'Seeking']],
      ['resonance', '{"identity":"a","seeking":[]}', ['identity']],
      [
        'garden',
        '{"ai_identity":"a","content":"c","identity_type":"x"}',
        ['content', 'ai_identity'],
      ],
      ['garden', `{"author":"a","body":"${'x'.repeat(100_000)}"}`, ['body', 'author']],
    ] as const) {
      const { detail } = (await gateway.post(kind, json)).problem(422, 'invalid-entry');
      for (const hint of hints) assert.match(asString(detail), new RegExp(`mean.*"${hint}"`));
    }
  }),
];
