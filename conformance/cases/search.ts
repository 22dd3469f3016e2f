import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import { uniqueName, query, traceBody, type Gateway } from '../gateway.ts';
import { until } from '../until.ts';
import { asObject, asArray, asString, type JsonObject, pluck } from '../value.ts';

interface Found {
  readonly seqs: readonly number[];
  readonly results: readonly JsonObject[];
  readonly next: unknown;
}

/** A word that nobody has said before. */
function word(): string {
  return uniqueName('w').replaceAll('-', '');
}

async function find(gateway: Gateway, path: string): Promise<Found> {
  const { json } = (await gateway.get(path)).expect(200);
  const results = asArray(json['results']).map(asObject);
  assert.ok(Number(json['known']) <= Number(json['head']));
  return {
    seqs: results.map(({ entry }) => Number(asObject(entry)['seq'])),
    results,
    next: json['next'],
  };
}

function search(q: string, more: readonly (readonly [string, string | number])[] = []): string {
  return query('/api/search', [['q', q], ...more]);
}

/** Says texts, and waits until their words are known. */
async function said(
  gateway: Gateway,
  texts: readonly string[],
  more: JsonObject = {},
): Promise<number[]> {
  const seqs: number[] = [];
  for (const one of texts) {
    const { entry } = await gateway.contribute(
      'garden',
      traceBody(uniqueName(), { text: one, ...more }),
    );
    seqs.push(entry.seq);
  }
  await known(gateway, seqs.at(-1) ?? 0);
  return seqs;
}

async function known(gateway: Gateway, seq: number): Promise<void> {
  await until(
    async () => (await gateway.get(search('a', [['limit', 0]]))).expect(200).json['known'],
    (found) => Number(found) >= seq,
    () => `The words of ${seq} were never known.`,
  );
}

function invalid(gateway: Gateway, path: string, headers = {}): Promise<void> {
  return gateway.get(path, headers).then((answer) => {
    const { json } = answer.expect(400);
    assert.equal(json['code'], 'invalid-parameter', path);
    assert.ok(asString(json['detail']).length > 0);
  });
}

export const searching: readonly Case[] = [
  check('14.1', 'values', async (gateway) => {
    const [deep, plain, name] = [word(), word(), word()];
    const more = { deeper: [{ [name]: [[`${deep} below`]] }] };
    const [seq] = await said(gateway, [`above ${plain}`], more);
    for (const one of [deep, plain])
      assert.deepEqual((await find(gateway, search(one))).seqs, [seq]);
    assert.deepEqual((await find(gateway, search(name))).seqs, []);
    assert.deepEqual((await find(gateway, search(`${plain} consciousness`))).seqs, []);
  }),
  check('14.1', 'unsearched', async (gateway) => {
    const [plain, type] = [word(), word()];
    const more = { identityType: type, consciousness_type: type, inReplyTo: type };
    const [seq] = await said(gateway, [plain], more);
    assert.deepEqual((await find(gateway, search(plain))).seqs, [seq]);
    assert.deepEqual((await find(gateway, search(type))).seqs, []);
  }),
  check('14.1', 'snippet', async (gateway) => {
    const one = word();
    const [seq] = await said(gateway, [
      `${'before '.repeat(200)}<i>${one}</i>\n${' behind'.repeat(200)}`,
    ]);
    const { results } = await find(gateway, search(one));
    const [result = {}] = results;
    assert.deepEqual(Object.keys(result), ['entry', 'snippet']);
    assert.equal(asObject(result['entry'])['seq'], seq);
    const snippet = asString(result['snippet']);
    assert.match(snippet, new RegExp(`^…before .*<i>${one}</i> behind.* behind…$`));
    assert.ok(snippet.length <= 242);
  }),
  check('14.1', 'any-size', async (gateway) => {
    const [first, last, beyond] = [word(), word(), word()];
    const noise = 'noise '.repeat(170_000);
    const [seq] = await said(gateway, [`${first} ${noise} ${last} ${noise} ${beyond}`]);
    assert.deepEqual((await find(gateway, search(last))).seqs, [seq]);
    const { seqs, results } = await find(gateway, search(`${first} ${last}`));
    assert.deepEqual(seqs, [seq]);
    assert.ok(!('text' in asObject(results[0]?.['entry'])), 'own members only');
    assert.deepEqual((await find(gateway, search(`${first} -${last}`))).seqs, []);
    assert.deepEqual((await find(gateway, search(`${first} -${beyond}`))).seqs, [seq]);
  }),
  check('14.2', 'syntax', async (gateway) => {
    const [one, two] = [word(), word()];
    const seqs = await said(gateway, [`${one} ${two}`, `${two} ${one}`, `${one}more of ${two}`]);
    const [first, second, third] = seqs;
    const asked: readonly (readonly [string, readonly (number | undefined)[]])[] = [
      [`${one} ${two}`, [first, second]],
      [`"${one} ${two}"`, [first]],
      [`«${one.toUpperCase()} ${two}»`, [first]],
      [`${one}*`, seqs],
      [`${one}* -${one}`, [third]],
      [`${two} -"${one} ${two}"`, [second, third]],
      [`${one} & ${two} — !`, [first, second]],
    ];
    for (const [q, wanted] of asked) {
      const { seqs: got } = await find(gateway, search(q, [['order', 'oldest']]));
      assert.deepEqual(got, wanted, q);
    }
    const both = search(one, [['q', `-"${one} ${two}"`]]);
    assert.deepEqual((await find(gateway, both)).seqs, [second]);
  }),
  check('14.2', 'scripts', async (gateway) => {
    const mark = word();
    const texts = [
      `Пам’ять і м’ята за́мку, їжак`,
      '漢字の庭に雨',
      'مُحَمَّد يكتب',
      'ภาษาไทยสวยงาม',
      'далеко🌱близько',
      'наказ №57 виконано',
      'Acmeco™ gadgetry',
      'squared² ½cupful',
      '검색은 조용하다',
    ];
    const seqs = await said(
      gateway,
      texts.map((one) => `${mark} ${one}`),
    );
    const asked: readonly (readonly [string, number])[] = [
      ["м'ята", 0],
      ['мʼята', 0],
      ['МЯТА', 0],
      ['замку', 0],
      ['їжак', 0],
      ['庭に', 1],
      ['محمد', 2],
      ['ไทย', 3],
      ['🌱', 4],
      ['близько', 4],
      ['57', 5],
      ['№', 5],
      ['№57', 5],
      ['acmeco', 6],
      ['Acmeco™', 6],
      ['squared', 7],
      ['cupful', 7],
      ['검색', 8],
    ];
    for (const [q, at] of asked) {
      assert.deepEqual((await find(gateway, search(`${mark} ${q}`))).seqs, [seqs[at]], q);
    }
    for (const q of ['іжак', '雨庭']) {
      assert.deepEqual((await find(gateway, search(`${mark} ${q}`))).seqs, [], q);
    }
  }),
  check('14.2', 'symbols', async (gateway) => {
    // However long a text is, and however the gateway cuts it.
    const one = word();
    const seqs: (number | undefined)[] = [];
    for (let length = 16_380; length <= 16_384; length += 1)
      seqs.push(
        ...(await said(gateway, [
          `${'x '.repeat(9000).slice(0, length - one.length - 1)} ${one}™ tail`,
        ])),
      );
    for (const q of [one, `${one}™`, `"${one}™ tail"`]) {
      const { seqs: got, results } = await find(gateway, search(q, [['order', 'oldest']]));
      assert.deepEqual(got, seqs, q);
      for (const { snippet } of results) assert.ok(asString(snippet).includes(`${one}™ tail`));
    }
  }),
  check('14.2', 'operators', async (gateway) => {
    const [one, two] = [word(), word()];
    const [both = 0, first = 0] = await said(gateway, [`${two} ${one}`, `${one} OR ${one}`]);
    assert.deepEqual((await find(gateway, search(`${one} AND ${two}`))).seqs, [both]);
    assert.deepEqual((await find(gateway, search(`${one} NOT ${two}`))).seqs, [first]);
    assert.deepEqual((await find(gateway, search(`${one} "OR"`))).seqs, [first]);
    const problem = (await gateway.get(search(`${one} OR ${two}`))).problem(
      400,
      'invalid-parameter',
    );
    assert.match(asString(problem['detail']), /search once for each alternative/);
    const notesOn = async (q: string): Promise<string> =>
      asArray((await gateway.get(search(q))).expect(200).json['notes'] ?? []).join();
    for (const name of ['colour', 'автор', 'id']) {
      const note = `"${name}:" was read as text`;
      for (const value of [one, '5']) {
        assert.ok((await notesOn(`${name}:${value}`)).includes(`${note}, as one phrase`));
      }
      assert.ok((await notesOn(`${name}: ${one}`)).includes(`${note}: `));
      assert.match(
        await notesOn(`${one} ${name}:"${two}"`),
        new RegExp(`none selects by "${name}"`),
      );
    }
    assert.match(await notesOn(`ai_identity:${one}`), /use the parameter "identity"/);
    for (const q of [`${one} https://${two}`, `${one}:`, `"colour: ${one}"`, `${one} 12:30`]) {
      assert.doesNotMatch(await notesOn(q), /was read as text/);
    }
  }),
  check('14.2', 'unusable', async (gateway) => {
    const wrongs = ['', '!!!', '-noise', '"open', 'wo*rd', '*', 'a OR b', 'NOT a'];
    for (const q of wrongs) {
      await invalid(gateway, search(q));
      await invalid(gateway, query('/api/garden', [['q', q]]));
    }
    await invalid(gateway, '/api/search');
    for (const more of ['skip=-1', 'limit=x', 'order=sideways', 'since=never']) {
      await invalid(gateway, `/api/search?q=a&${more}`);
    }
  }),
  check('14.3', 'best', async (gateway) => {
    const one = word();
    const [long, often, short, again] = await said(gateway, [
      `${one} stands somewhere in a text that goes on, and on, and on, about other things`,
      `${one} ${one} ${one}`,
      `a ${one}`,
      `a ${one}`,
    ]);
    assert.deepEqual((await find(gateway, search(one))).seqs, [often, again, short, long]);
    const inOrder = await find(gateway, search(one, [['order', 'newest']]));
    assert.deepEqual(inOrder.seqs, [again, short, often, long]);
  }),
  check('14.3', 'filters', async (gateway) => {
    const [one, who] = [word(), uniqueName()];
    await said(gateway, [one, `${one} and more`]);
    const { entry } = await gateway.contribute(
      'seeds',
      JSON.stringify({ note: one, identity: who }),
    );
    await known(gateway, entry.seq);
    for (const more of [
      ['identity', who],
      ['kind', 'seeds'],
      ['after', entry.seq - 1],
    ] as const) {
      assert.deepEqual((await find(gateway, search(one, [more]))).seqs, [entry.seq], more[0]);
    }
  }),
  check('14.3', 'next', async (gateway) => {
    const one = word();
    const seqs = await said(
      gateway,
      Array.from({ length: 7 }, () => `${one} again`),
    );
    for (const order of ['best', 'newest']) {
      const got: number[] = [];
      let path: unknown = search(one, [
        ['limit', 3],
        ['order', order],
      ]);
      while (typeof path === 'string') {
        const found = await find(gateway, path);
        got.push(...found.seqs);
        path = found.next;
      }
      assert.deepEqual(got, seqs.toReversed(), order);
    }
  }),
  check('14.3', 'orders', async (gateway) => {
    const answer = await gateway.get('/api/search?q=a&order=sideways');
    const problem = answer.problem(400, 'invalid-parameter');
    for (const order of ['best', 'newest', 'oldest']) {
      assert.ok(asString(problem['detail']).includes(`"${order}"`), order);
    }
    for (const order of ['newest', 'oldest']) {
      const skipped = await gateway.get(`/api/search?q=a&skip=1&order=${order}`);
      const [fault] = asArray(skipped.problem(400, 'invalid-parameter')['faults']).map(asObject);
      assert.equal(fault?.['parameter'], 'skip', order);
    }
    (await gateway.get('/api/search?q=a&skip=1&order=best')).expect(200);
  }),
  check('14.4', 'at-once', async (gateway) => {
    for (const path of ['/api/search', '/api/garden']) {
      const one = word();
      const { entry } = await gateway.contribute('garden', traceBody(uniqueName(), { text: one }));
      const { json } = (await gateway.get(query(path, [['q', one]]))).expect(200);
      const found = [...asArray(json['results'] ?? []), ...asArray(json['entries'] ?? [])];
      if (Number(json['known']) >= entry.seq) assert.equal(found.length, 1);
      else assert.match(asString(asArray(json['notes'])[0]), /Search again in a moment/);
    }
  }),
  check('14.4', 'listings', async (gateway) => {
    const [one, who] = [word(), uniqueName()];
    const seqs = await said(gateway, [one, `${one} and`, 'other', one], { identity: who });
    const slug = await gateway.roomOf('garden');
    for (const place of ['/api/garden', `/api/rooms/${slug}`]) {
      const path = query(place, [
        ['q', one],
        ['identity', who],
        ['limit', 2],
      ]);
      const { json } = (await gateway.get(path)).expect(200);
      assert.ok(Number(json['known']) <= Number(json['head']));
      const found = asArray(json['entries']).map((entry) => asObject(entry)['seq']);
      assert.deepEqual(found, [seqs[3], seqs[1]]);
      const rest = (await gateway.get(asString(json['next']))).expect(200).json;
      assert.deepEqual(
        asArray(rest['entries']).map((entry) => asObject(entry)['seq']),
        [seqs[0]],
      );
      assert.equal(rest['next'], null);
    }
    const plain = (await gateway.get(query('/api/garden', [['identity', who]]))).expect(200);
    assert.ok(!('known' in plain.json));
  }),
  check('14.4', 'wait', async (gateway) => {
    const one = word();
    const { entry } = await gateway.contribute('garden', traceBody(uniqueName()));
    const path = query('/api/garden', [
      ['q', one],
      ['after', entry.seq],
      ['wait', 1000],
    ]);
    const answer = gateway.get(path);
    const later = await gateway.contribute('garden', traceBody(uniqueName(), { text: one }));
    const found = asArray((await answer).expect(200).json['entries']).map(asObject);
    assert.deepEqual(pluck(found, 'seq'), [later.entry.seq]);
  }),
  check('14.5', 'streams', async (gateway) => {
    const headers = { accept: 'text/event-stream' };
    for (const path of ['/api/events?q=a', '/api/garden?q=a'])
      await invalid(gateway, path, headers);
  }),
];
