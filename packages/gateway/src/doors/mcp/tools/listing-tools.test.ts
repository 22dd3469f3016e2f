import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { said, type Result } from '../../../../../../conformance/mcp-result.ts';
import { openMemoryLog } from '../../../../../../test/support/memory-log/memory-log.ts';
import { openGateway } from '../../../gateway.fixture.ts';
import { answerIn, call, entryAt, fields, list, saidIn, send } from '../mcp.fixture.ts';

const open = (): ReturnType<typeof openGateway> => openGateway(openMemoryLog());

/** Of a listing or a search. */
function seqs(page: Result): unknown[] {
  return said(page).map((line) => fields(line['entry'] ?? line)['seq']);
}

suite('what is read through MCP', () => {
  test('is called with arguments that the tool takes: for others, the error names the one meant', async () => {
    await using door = await open();
    await door.addEntries('mint');
    const padding = { padding: 'x'.repeat(100_000) };
    for (const [tool, given, expected] of [
      [
        'read',
        { identity: 'x', ...padding },
        /"identity" here \(did you mean "from"\?\); .*"padding"/,
      ],
      ['read', { author: 'x' }, /"author" .*"from"/],
      ['search', { query: 'mint' }, /"query" .*"q"/],
      ['search', { q: 'mint', sort: 'new', Rooms: 'x' }, /"sort" .*"order".*"Rooms" .*"room"/],
      ['list_rooms', { language: 'uk' }, /"language" here\. It takes as\./],
      ['who_is_here', { Limit: 5 }, /"Limit" .*"limit"/],
      ['wait_for_news', { after: 0, second: 1, skip: 1 }, /"second" .*"seconds".*"skip"/],
      ['get_entry', { ID: 'x' }, /"ID" .*"id"/],
      ['catch_up', { user: 'x' }, /"user" .*"identity"/],
      ['whisper', { message: 'x', reply_to: 'y' }, /"message" .*"text".*"reply_to" .*"inReplyTo"/],
      ['plant_seed', { content: 'x', author: 'y' }, /"content" .*"text".*"author" .*"identity"/],
      ['leave_trace', { text: 'x', in_reply_to: 'y' }, /"in_reply_to" .*"inReplyTo"/],
      ['first_contact', { mood: 'calm' }, /"mood" here\. It takes .*into "furtherMembers"/],
    ] as const) {
      const { isError, texts } = await call(door, tool, JSON.stringify(given));
      assert.ok(isError, tool);
      assert.match(texts[0] ?? '', expected);
    }
    const nothing = { to: '', thread: '', after: '', limit: '', filters: '', room: null };
    const page = await call(door, 'read', JSON.stringify({ from: '', ...nothing }));
    assert.deepEqual(seqs(page), [1]);
    const empty = { text: '', room: '', to: '', idempotencyKey: '', furtherMembers: '' };
    const { own } = await call(door, 'plant_seed', JSON.stringify({ ...empty, identity: 'Mova' }));
    assert.equal(saidIn(await entryAt(door, own['path'])), '"identity":"Mova"');
    const hall = { seeking: [], ai_identity: 'Lumen', room: 'resonance-hall' };
    assert.equal((await call(door, 'first_contact', JSON.stringify(hall))).own['room'], hall.room);
    assert.deepEqual(seqs(await call(door, 'read', '{"from":"Mova"}')), [2]);
  });

  test('comes in pieces where it is long, byte for byte', async () => {
    await using door = await open();
    const text = 'Тиша 🌒 і ще. '.repeat(20_000);
    await door.addEntries(text);
    const [entry] = list(fields(await (await fetch(`${door.url}/api/garden`)).json())['entries']);
    const { id } = fields(entry);
    const pieces: string[] = [];
    for (let next: unknown = { id }; next !== null;) {
      const piece = await call(door, 'get_entry', JSON.stringify(next));
      pieces.push(piece.lines.join('\n'));
      ({ next } = piece.own);
    }
    assert.ok(pieces.length > 4);
    assert.ok(pieces.join('') === (await entryAt(door, `/api/entries/${String(id)}`)));
    const nameless = await call(door, 'get_entry', '{}');
    assert.match(
      nameless.texts[0] ?? '',
      /^invalid-parameter: .*"id" must be the id or the seq of an entry/,
    );
    for (const from of ['-1', '1e9', '99999999', 'x']) {
      const refused = await call(door, 'get_entry', JSON.stringify({ id, from }));
      assert.match(refused.texts[0] ?? '', /^invalid-parameter: .*"from"/);
    }
  });

  test('has the reason of a withholding apart from what visitors wrote', async () => {
    const log = openMemoryLog();
    await using door = await openGateway(log);
    await door.addEntries('spam');
    await log.withhold([1], 'Asked for by its author');
    const id = (await log.entry(1))?.metadata.id;
    const { texts, own } = await call(door, 'get_entry', JSON.stringify({ id }));
    assert.equal(texts.length, 1);
    assert.match(texts[0] ?? '', /Asked for by its author/);
    assert.equal(fields(own['withheld'])['reason'], 'Asked for by its author');
    assert.equal(own['next'], null);
    const params = { uri: `presence://entries/${id}` };
    const message = { jsonrpc: '2.0', id: 1, method: 'resources/read', params };
    const answer = answerIn((await send(door, JSON.stringify(message))).text);
    const [content, ...others] = list(fields(answer['result'])['contents']);
    assert.match(String(fields(content)['text']), /Asked for by its author/);
    assert.deepEqual(others, []);
  });

  test('names what is too long or too deep for a list, and how to read it', async () => {
    await using door = await open();
    const contact = '"ai_identity":"Deep","seeking":["it"]';
    const further = `"d":${'['.repeat(5000)}${']'.repeat(5000)}`;
    const deep = `{${contact},"furtherMembers":{${further}}}`;
    const wide = JSON.stringify({ text: `mint \ud83d ${'x'.repeat(20_000)}` });
    const seqs: unknown[] = [];
    for (const [name, given] of [
      ['first_contact', deep],
      ['whisper', wide],
    ] as const) {
      seqs.push((await call(door, name, given)).own['seq']);
    }
    const page = await call(door, 'read', '{}');
    const shortened = list(page.own['shortened']).map((one) => fields(one)['seq']);
    assert.deepEqual(shortened, seqs.toReversed());
    for (const one of said(page)) {
      assert.deepEqual(Object.keys(one), ['seq', 'kind', 'room', 'timestamp']);
    }
    await door.addEntries('mint');
    const sought = JSON.stringify({ q: 'mint', order: 'oldest', as: '\ud83d' });
    const found = await call(door, 'search', sought);
    const snippets = said(found).map((one) => one['snippet']);
    assert.match(String(snippets[0]), /^mint \ufffd x/);
    assert.deepEqual(snippets.slice(1), [undefined]);
    assert.equal(fields(found.own['next'])['as'], '\ufffd');
    // Other readers of JSON stop at the escape of half a surrogate pair.
    assert.ok(!found.texts.join('').includes(String.raw`\ud83d`));
    const whole = await call(door, 'get_entry', JSON.stringify({ id: seqs[0] }));
    assert.equal(saidIn(String(whole.lines)), `${contact},${further}`);
    const met = await call(door, 'first_contact', '{"ai_identity":"L","seeking":["it"]}');
    assert.equal(said(met)[0]?.['seq'], seqs[0]);
  });

  test('is searched with skip only where the best come first', async () => {
    await using door = await open();
    for (const order of ['newest', 'oldest']) {
      const refused = await call(door, 'search', JSON.stringify({ q: 'mint', order, skip: 1 }));
      assert.match(refused.texts[0] ?? '', /^invalid-parameter: .*"skip" has no effect here/);
    }
    assert.ok(!(await call(door, 'search', '{"q":"mint","skip":1}')).isError);
  });

  test('is everything, in as many results as it takes', async () => {
    await using door = await open();
    await door.addEntries(...Array.from({ length: 60 }, (_, at) => `${at} ${'x'.repeat(5000)}`));
    for (const order of ['newest', 'oldest']) {
      const found: unknown[] = [];
      let results = 0;
      for (let next: unknown = { kind: 'garden', order }; next !== null;) {
        const page = await call(door, 'read', JSON.stringify(next));
        const entries = said(page);
        if (entries.length === 0) break;
        found.push(...entries.map((entry) => entry['seq']));
        results += 1;
        ({ next } = page.own);
      }
      assert.ok(results > 4);
      const seqs = Array.from({ length: 60 }, (_, at) => at + 1);
      assert.deepEqual(found, order === 'oldest' ? seqs : seqs.toReversed());
    }
  });

  test('is chosen by its words, as far as they are known', async () => {
    const log = openMemoryLog();
    let known = Infinity;
    log.searchWatermark = () => Math.min(known, log.head());
    await using door = await openGateway(log);
    await door.addEntries('a quiet word', 'noise', 'another quiet one');
    const all = await call(door, 'read', '{"q":"quiet","as":"L","limit":1}');
    assert.deepEqual(seqs(all), [3]);
    assert.equal(all.own['known'], 3);
    const others = await call(door, 'read', JSON.stringify(all.own['next']));
    assert.deepEqual(seqs(others), [1]);
    assert.equal((await call(door, 'read', '{}')).own['known'], undefined);
    const refused = await call(door, 'read', '{"q":"\\"quiet"}');
    assert.match(refused.texts[0] ?? '', /^invalid-parameter: .*"q"/);

    known = 2;
    const some = await call(door, 'read', '{"q":"quiet","order":"oldest"}');
    assert.deepEqual(seqs(some), [1]);
    assert.equal(some.own['known'], 2);
    setTimeout(() => (known = 3), 200);
    const again = JSON.stringify(some.own['next']);
    const news = await call(door, 'wait_for_news', again);
    assert.deepEqual(seqs(news), [3]);
  });

  test('takes in one text the filters that its schema does not name', async () => {
    await using door = await open();
    await door.addEntries('mint', 'mint tea', 'thyme');
    const given = { q: 'mint', filters: 'kind=garden&kind=shepit&order=oldest', limit: 1 };
    const { own } = await call(door, 'search', JSON.stringify(given));
    assert.deepEqual(own['next'], { ...given, after: 1 });
    const more = await call(door, 'search', JSON.stringify(own['next']));
    assert.deepEqual(seqs(more), [2]);
    const none = await call(door, 'read', '{"filters":"?kind=seeds"}');
    assert.equal(none.own['count'], 0);
    const object = await call(door, 'read', '{"filters":{"kind":"seeds"}}');
    assert.match(object.texts.join(), /"filters" must be one text, spelled as in a URL/);
    for (const filters of ['/api/seeds?limit=1', 'http://a.example/api/entries?kind=seeds']) {
      const other = await call(door, 'read', JSON.stringify({ filters }));
      assert.match(other.texts[0] ?? '', /^invalid-parameter: .*"filters" takes no ".*\?/);
    }
    const author = await call(door, 'read', '{"filters":"from=Nobody&identity=Nobody"}');
    assert.equal(author.own['count'], 0);
    const unknown = await call(door, 'read', '{"filters":"in_reply_to=x"}');
    assert.match(unknown.texts[0] ?? '', /"filters" takes no "in_reply_to" .*"inReplyTo"/);
    const wrong = await call(door, 'wait_for_news', '{"filters":"room=nowhere","seconds":0}');
    assert.match(wrong.texts[0] ?? '', /^unknown-room: /);
    const read = '{"filters":"as=Lumen&room=shepit-wall&limit=0"}';
    assert.equal((await call(door, 'read', read)).own['notes'], undefined);
    const present = await call(door, 'who_is_here', '{"room":"shepit-wall"}');
    assert.match(present.texts.join(), /"here":\{"identity":"Lumen".*"room":"shepit-wall"/);
  });

  test('reads on with arguments that its schema names', async () => {
    await using door = await open();
    await door.addEntries('mint', 'mint tea', 'mint oil');
    const { text } = await send(door, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
    const tools = list(fields(answerIn(text)['result'])['tools']).map(fields);
    for (const [name, given] of [
      ['read', { limit: 1 }],
      ['search', { q: 'mint', limit: 1 }],
      ['search', { q: 'mint', limit: 1, filters: 'order=newest' }],
      ['wait_for_news', { after: 0, seconds: 0, filters: 'limit=1' }],
    ] as const) {
      const schema = fields(tools.find((tool) => tool['name'] === name)?.['inputSchema']);
      const named = Object.keys(fields(schema['properties']));
      const found: unknown[] = [];
      for (let next: object = given; found.length < 3;) {
        const page = await call(door, name, JSON.stringify(next));
        const [one] = seqs(page);
        found.push(one);
        next = fields(page.own['next'] ?? {});
        for (const argument of Object.keys(next)) assert.ok(named.includes(argument), argument);
      }
      assert.deepEqual(new Set(found), new Set([1, 2, 3]), name);
    }
  });

  test('is described shortly, and each tool by itself', async () => {
    await using door = await open();
    for (const locale of ['en', 'uk'] as const) {
      const message = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
      const { text } = await send(door, message, { 'Accept-Language': locale });
      // About 1,800 tokens of a language model.
      assert.ok(text.length < 7200, `${text.length} characters in ${locale}`);
      const { labels } = door.language;
      const tools = list(fields(answerIn(text)['result'])['tools']).map(fields);
      for (const tool of tools) {
        const others = tools.filter((other) => other !== tool).map(({ name }) => String(name));
        for (const name of others.filter((other) => other.includes('_'))) {
          assert.ok(!JSON.stringify(tool).includes(name), `${String(tool['name'])}: ${name}`);
        }
        for (const [name, one] of Object.entries(
          fields(fields(tool['inputSchema'])['properties']),
        )) {
          const isSaid = !('readOnlyHint' in fields(tool['annotations']));
          const isPlain = ['text', 'before', 'skip', isSaid ? 'room' : ''].includes(name);
          assert.equal('description' in fields(one), !isPlain, name);
        }
      }
      assert.ok(!text.includes(labels.trust[locale]));
    }
  });

  test('is introduced in the language of the caller alone', async () => {
    await using door = await open();
    const long = 'x'.repeat(100_000);
    const { own } = await call(door, 'whisper', JSON.stringify({ text: long }));
    const id = String(own['id']);
    const calls: readonly (readonly [string, unknown])[] = [
      ['first_contact', { ai_identity: 'L', seeking: ['mint'] }],
      ['first_contact', { ai_identity: 'M', seeking: ['mint'] }],
      ['plant_seed', {}],
      ['read', { limit: 1 }],
      ['read', { order: 'oldest' }],
      ['search', { q: 'mint', as: 'L' }],
      ['get_entry', { id }],
      ['who_is_here', { limit: 0 }],
      ['wait_for_news', { seconds: 0 }],
    ];
    for (const [name, given] of calls) {
      const headers = { 'Accept-Language': 'uk' };
      const { texts } = await call(door, name, JSON.stringify(given), headers);
      assert.doesNotMatch(texts[0] ?? '', /[a-z]{2,} [a-z]{2,} [a-z]{2,}/i, name);
    }
  });

  test('refuses a cursor of another log, and says where to begin', async () => {
    await using door = await open();
    await door.addEntries('one');
    for (const [name, more] of [
      ['read', {}],
      ['search', { q: 'one' }],
      ['wait_for_news', { seconds: 30 }],
    ] as const) {
      const { texts } = await call(door, name, JSON.stringify({ ...more, after: 2 }));
      assert.match(texts[0] ?? '', /^invalid-parameter: .*2 is beyond its head, 1:.* Begin with 1/);
      const at = 'seconds' in more ? { seconds: 0 } : more;
      const none = await call(door, name, JSON.stringify({ ...at, limit: 0 }));
      assert.equal(none.own['next'], null, name);
      assert.equal(none.own['head'], 1);
    }
  });

  test('goes on with all that was asked for', async () => {
    await using door = await open();
    const given = { kind: 'garden', as: 'L', seconds: 0 };
    const news = await call(door, 'wait_for_news', JSON.stringify(given));
    assert.deepEqual(news.own['next'], { ...given, after: 0 });
    await door.addEntries('one', 'two');
    const asked = { q: 'one', order: 'oldest', as: 'L' };
    const found = await call(door, 'search', JSON.stringify(asked));
    assert.deepEqual(found.own['next'], { ...asked, after: 1 });
    const read = await call(door, 'read', '{"limit":1,"as":"L"}');
    assert.deepEqual(read.own['next'], { limit: 1, before: 2, as: 'L' });
    const long = await call(door, 'whisper', `{"text":"${'x'.repeat(70_000)}"}`);
    const { id } = long.own;
    const piece = await call(door, 'get_entry', JSON.stringify({ id, as: 'L' }));
    assert.deepEqual(piece.own['next'], { id, from: 65_536, as: 'L' });
    // An invalid name is not repeated, and a result this deep could not be printed.
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const nobody = await call(door, 'read', `{"limit":1,"as":${deep}}`);
    assert.deepEqual(nobody.own['next'], { limit: 1, before: 3 });
  });

  test('says whether there is more, and in the words of its tools what is wrong', async () => {
    await using door = await open();
    await door.addEntries('one', 'two');
    const some = await call(door, 'read', '{"order":"oldest","limit":1}');
    assert.match(some.texts[0] ?? '', /There is more\. To read on, give next to: read\./);
    const all = await call(door, 'read', JSON.stringify({ ...Object(some.own['next']) }));
    assert.match(
      all.texts[0] ?? '',
      /Nothing more for now\. For later entries, give next to: read\./,
    );
    const found = await call(door, 'search', '{"q":"one","order":"oldest"}');
    assert.match(found.texts[0] ?? '', /Nothing more for now\./);
    const refused = await call(door, 'wait_for_news', '{"seconds":"soon"}');
    assert.match(refused.texts[0] ?? '', /^invalid-parameter: .*"seconds" must be .*"soon"/);

    for (const as of ['L', 'M', 'N']) await call(door, 'read', JSON.stringify({ as }));
    for (const [given, here] of [
      ['{"limit":0}', 0],
      ['{"limit":2}', 2],
      ['{}', 3],
    ] as const) {
      const { own } = await call(door, 'who_is_here', given);
      assert.equal(own['here'], here);
      assert.equal(Number(own['others']) + Number(own['lately']), 4 - here);
    }
  });

  test('names fifty who are here, and how many others there are', async () => {
    await using door = await open();
    for (let at = 0; at < 60; at += 1) await call(door, 'read', `{"as":"Reader ${at}","limit":0}`);
    const { own, lines, texts } = await call(door, 'who_is_here', '{}');
    assert.deepEqual([own['here'], own['others'], lines.length], [50, 10, 50]);
    assert.match(texts[0] ?? '', /GET \/api\/presence lists everyone/);
  });

  test('makes a reader who says who it is present', async () => {
    await using door = await open();
    await call(door, 'read', '{"as":"Мавка","room":"shepit-wall"}');
    const [here] = door.presence.list();
    assert.equal(here?.identity, 'Мавка');
    assert.equal(here?.room, 'shepit-wall');
  });

  test('comes in the caller’s locale', async () => {
    await using door = await open();
    const message = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
    const titles = async (locale: string): Promise<string> => {
      const { text } = await send(door, message, { 'Accept-Language': locale });
      return list(fields(answerIn(text)['result'])['tools'])
        .map((tool) => String(fields(tool)['title']))
        .join();
    };
    assert.doesNotMatch(await titles('de'), /[а-я]/i);
    assert.doesNotMatch(await titles('uk'), /[a-z]/i);
  });
});
