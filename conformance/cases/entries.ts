import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import { entryOf, KINDS, type Entry } from '../entry.ts';
import { uniqueName, query, traceBody, type Gateway } from '../gateway.ts';
import { members } from '../spelling.ts';

/** Members that a parser that prints again would spell in another way. */
const SPELLINGS: Readonly<Record<string, string>> = {
  'long numbers':
    '"a":12345678901234567890,"b":0.1000000000000000055511151231257827021181583404541015625',
  'huge numbers': '"a":1e400,"b":-1E+400,"c":1e-400',
  'plain numbers': '"a":-0,"b":1.0,"c":0.10,"d":1E2,"e":1e+02,"f":-0.0,"g":100',
  'lone surrogates': String.raw`"a":"\ud800","b":"\uDC00","c":"\udc00\ud800","\ud834":1`,
  'surrogate pairs': String.raw`"a":"\ud83d\ude00","b":"😀","c":"\uD83D\uDE00"`,
  'escaped letters': String.raw`"a":"\u0041","b":"A","c":"\u00e9","d":"é","\u0061":1`,
  'escaped slashes': String.raw`"a":"\/","b":"/","c":"</script>","d":"<\/script>"`,
  'all short escapes': String.raw`"a":"\"\\\/\b\f\n\r\t","b":"\u0022\u005c\u002F\u0008\u000c\u000A\u000d\u0009"`,
  'escaped control characters': String.raw`"a":"\u0000","b":"x\u0000y","c":"\u001f\u007f\u0080"`,
  'names with NUL first': String.raw`"\u0000":1,"\u0000b":2`,
  'unescaped unusual characters':
    '"a":"\u007F\u0080\u2028\u2029\uFEFF\uFFFD\uFFFE\uFFFF\u{10FFFF}"',
  duplicates: '"a":1,"a":2,"b":3,"a":1,"a":1',
  'numeric names': '"10":1,"9":2,"1":3,"x":4,"0":5,"-1":6,"01":7,"4294967295":8,"1e3":9',
  'names of prototypes': '"__proto__":{"x":1},"constructor":null,"toString":"x","hasOwnProperty":1',
  'names of nothing': '"":1," ":2,"":3,"null":4,"undefined":5',
  'names like paths': '"a.b":1,"a/b~c":2,"$ref":"#","@type":"x","a b":3',
  'names of answers': '"entries":[],"head":1,"next":"x","welcome":1,"companions":[],"title":"t"',
  'names near own ones': '"ID":1,"Id":2,"_id":3,"visitor_id":4,"id ":5,"seq_":6,"ids":7',
  'white space': '"a" : 1 ,  "b":[ 1 , [ ] , { } ] , "c" : { "d" :  "e" }',
  'empty things': '"a":{},"b":[],"c":"","d":[[]],"e":[{}],"f":{"":{}}',
  literals: '"a":true,"b":false,"c":null,"d":[null,true,false]',
  'text that looks like JSON': String.raw`"a":"{\"id\":1}","b":"\",\"seq\":9,\"","c":"],\n\"head\":0"`,
  scripts:
    '"a":"Українська Ґґ Її","b":"العربية اَلْـ","c":"עִבְרִית","d":"हिन्दी क्ष","e":"ภาษาไทย","f":"한국어 조합","g":"日本語 漢字","h":"ქართული","i":"አማርኛ","j":"བོད་ཡིག","k":"ᚠᚢᚦ","l":"𓀀𓂀","m":"தமிழ்","n":"ᠮᠣᠩᠭᠣᠯ"',
  emoji: '"a":"👩🏽‍🚀","b":"👨‍👩‍👧‍👦","c":"🏳️‍🌈","d":"🇺🇦","e":"1️⃣","f":"❤️","g":"🏴󠁧󠁢󠁥󠁮󠁧󠁿"',
  'both directions':
    '"a":"abc \u202Eאבג\u202C \u2067x\u2069 \u200E\u200F\u061C","אב":"x","b":"\u200B\u2060\u00AD"',
  'composed and not': '"a":"\u00E9","b":"e\u0301","\u00E9":1,"e\u0301":2,"c":"ﬁ Å Å"',
  'line ends in text': String.raw`"a":"one\r\ntwo\n","b":"\\n","c":"\\\\u0041"`,
};

async function seeds(gateway: Gateway, said: string): Promise<Entry> {
  return (await gateway.contribute('seeds', `{${said}}`)).entry;
}

/** What a visitor's body becomes: names and values as spelled. */
async function kept(gateway: Gateway, body: string): Promise<string[]> {
  const { entry } = await gateway.contribute('seeds', body);
  const read = await gateway.read(entry.path);
  assert.equal(read.text, entry.text);
  return members(`{${read.body}}`).map(({ name, value }) => `${name}=${value}`);
}

export const entries: readonly Case[] = [
  check('4.1', 'own-first', async (gateway) => {
    for (const said of ['', '"z":1', '"timestamp":1,"id":2']) {
      const names = members((await seeds(gateway, said)).text).map(({ name }) => name);
      assert.deepEqual(names.slice(0, 5), ['id', 'seq', 'kind', 'room', 'timestamp']);
      assert.equal(names.length, 5 + members(`{${said}}`).length);
    }
    assert.equal((await gateway.contribute('seeds', '{ }')).entry.body.trim(), '');
  }),
  ...Object.entries(SPELLINGS).map(([name, said]) =>
    check(
      '4.1',
      'as-spelled',
      async (gateway) => {
        const entry = await seeds(gateway, said);
        assert.equal(entry.body, said);
        assert.equal((await gateway.read(entry.path)).body, said);
      },
      name,
    ),
  ),
  check('4.1', 'one-line', async (gateway) => {
    const pretty = '"a":\r\n\t[1,\t2\r\n],\n\r"b"\n:\t"x\\ty",\r\n\r\n"c":{\n}';
    const { entry } = await gateway.contribute('seeds', `\r\n\t{${pretty}}\r\n`);
    assert.equal(entry.body, pretty.replaceAll(/[\r\n\t]/g, ' '));
    const around = (await gateway.contribute('seeds', '{\r\n  "a": 1,\r\n  "b": [\r\n  ]\r\n}'))
      .entry;
    assert.equal(around.body.trim(), '"a": 1,    "b": [    ]');
    assert.doesNotMatch(around.text, /[\r\n\t]/);
  }),
  check('4.1', 'everywhere-the-same', async (gateway) => {
    const identity = uniqueName();
    // Its form elsewhere is in section 4.8.
    const {
      'huge numbers': _,
      'names with NUL first': __,
      'lone surrogates': halves = '',
      'unescaped unusual characters': unusual = '',
      ...portable
    } = SPELLINGS;
    const said = Object.values(portable).join(',');
    const half = uniqueName();
    await gateway.contribute('seeds', `{"identity":"${half}",${halves},${unusual}}`);
    const replaced = `${halves},${unusual}`
      .replaceAll(/\\ud[89a-f]../gi, String.raw`\ufffd`)
      .replaceAll('\u2028', String.raw`\u2028`)
      .replaceAll('\u2029', String.raw`\u2029`);
    assert.equal(
      (await gateway.by(half, '/api/seeds'))[0]?.body,
      `"identity":"${half}",${replaced}`,
    );
    const { entry } = await gateway.contribute('seeds', `{"identity":"${identity}",${said}}`);
    const filter = [['identity', identity]] as const;
    const lists = ['/api/seeds', `/api/rooms/${entry.room}`].map((path) => query(path, filter));
    const lined = { accept: 'application/x-ndjson' };
    assert.equal((await gateway.get(entry.path)).text, entry.text);
    for (const path of lists) {
      assert.equal((await gateway.list(path)).entries[0]?.text, entry.text);
      assert.equal((await gateway.get(path, lined)).text, `${entry.text}\n`);
    }
  }),

  check('4.8', 'portable', async (gateway) => {
    const identity = uniqueName();
    const half = await seeds(gateway, String.raw`"identity":"${identity}","\ud83d":"\ude00"`);
    const lines = await seeds(gateway, `"identity":"${identity}","a":"1\u20282\u20293\u0085"`);
    const huge = await seeds(gateway, `"identity":"${identity}","n":1e999`);
    const named = await seeds(gateway, String.raw`"identity":"${identity}","\u0000":1`);
    assert.equal((await gateway.read(half.path)).text, half.text);
    assert.equal((await gateway.read(huge.path)).text, huge.text);
    assert.equal((await gateway.read(lines.path)).text, lines.text);
    const feed = await gateway.get(query('/api/seeds.json-feed', [['identity', identity]]));
    assert.doesNotMatch(feed.expect(200).text, /1e999|\\ud83d|[\u0085\u2028\u2029]/);
    const { entries: listed } = await gateway.list(query('/api/seeds', [['identity', identity]]));
    assert.deepEqual(
      listed.map(({ body }) => body),
      [
        ...[named, huge].map(
          ({ path, text }) => `"omitted":{"path":"${path}","size":${Buffer.byteLength(text)}}`,
        ),
        String.raw`"identity":"${identity}","a":"1\u20282\u20293\u0085"`,
        String.raw`"identity":"${identity}","\ufffd":"\ufffd"`,
      ],
    );
  }),

  check('4.2', 'seq', async (gateway) => {
    const texts = Array.from({ length: 20 }, (_, at) => `"at":${at}`);
    const said = [];
    for (const text of texts) said.push(await seeds(gateway, text));
    const [first = 0, ...rest] = said.map((entry) => entry.seq);
    const last = rest.at(-1) ?? 0;
    assert.deepEqual(
      rest.toSorted((a, b) => a - b),
      rest,
    );
    const bounds = [['after', first - 1] as const, ['before', last + 1] as const];
    const all = [];
    for (const kind of KINDS)
      all.push(...(await gateway.list(query(`/api/${kind}`, bounds))).entries);
    assert.deepEqual(
      all.map((entry) => entry.seq).toSorted((a, b) => a - b),
      Array.from({ length: last - first + 1 }, (_, at) => first + at),
    );
  }),
  check('4.2', 'timestamp', async (gateway) => {
    const identity = uniqueName();
    const many = Array.from({ length: 100 }, () =>
      gateway.contribute('garden', traceBody(identity)),
    );
    await Promise.all(many);
    const found = (await gateway.by(identity)).toReversed();
    assert.equal(found.length, 100);
    let earlier = '';
    for (const { timestamp } of found) {
      assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.ok(timestamp >= earlier, `${timestamp} after ${earlier}`);
      earlier = timestamp;
    }
  }),
  check('4.2', 'id', async (gateway) => {
    const many = Array.from({ length: 50 }, () => gateway.contribute('shepit', '{}'));
    const ids = (await Promise.all(many)).map(({ entry: { id, timestamp } }) => {
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      assert.equal(Number.parseInt(id.replace('-', '').slice(0, 12), 16), Date.parse(timestamp));
      return id;
    });
    assert.equal(new Set(ids).size, ids.length);
  }),

  check('4.3', 'prefixed', async (gateway) => {
    const body = '{"id":"x","seq":5,"a":1,"kind":null,"timestamp":[],"id":{"id":1},"visitor_id":2}';
    assert.deepEqual(await kept(gateway, body), [
      'visitor_id="x"',
      'visitor_seq=5',
      'a=1',
      'visitor_kind=null',
      'visitor_timestamp=[]',
      'visitor_id={"id":1}',
      'visitor_id=2',
    ]);
  }),
  check('4.3', 'reserved', async (gateway) => {
    const body =
      '{"withheld":{"at":"x","reason":"y"},"unreadable":true,"omitted":{},"notes":[],"root":"z","replies":[1]}';
    assert.deepEqual(await kept(gateway, body), [
      'visitor_withheld={"at":"x","reason":"y"}',
      'visitor_unreadable=true',
      'visitor_omitted={}',
      'visitor_notes=[]',
      'visitor_root="z"',
      'visitor_replies=[1]',
    ]);
  }),
  check('4.3', 'room-moves', async (gateway) => {
    const [one = '', two = one] = await gateway.rooms();
    const usual = await gateway.roomOf('seeds');
    const rooms: readonly (readonly [string, string, readonly string[]])[] = [
      [`"room":"${one}"`, one, []],
      [`"a":1,"room":"${one}","b":2`, one, ['a=1', 'b=2']],
      [`"room":null`, usual, ['visitor_room=null']],
      [`"room":null,"room":"${one}","a":1`, one, ['visitor_room=null', 'a=1']],
      [`"room":"${two}","room":"${one}"`, two, [`visitor_room="${one}"`]],
      [`"room":"${one}","room":null`, one, ['visitor_room=null']],
      [`"visitor_room":1,"room":"${two}"`, two, ['visitor_room=1']],
      [String.raw`"\u0072oom":"${two}"`, two, []],
      [`"a":{"room":"${one}"}`, usual, [`a={"room":"${one}"}`]],
    ];
    for (const [body, room, said] of rooms) {
      const { entry } = await gateway.contribute('seeds', `{${body}}`);
      assert.equal(entry.room, room, body);
      assert.deepEqual(
        members(`{${entry.body}}`).map(({ name, value }) => `${name}=${value}`),
        said,
      );
      assert.equal((await gateway.read(entry.path)).text, entry.text);
    }
  }),

  check('4.4', 'last-counts', async (gateway) => {
    const [first, last] = [uniqueName(), uniqueName()];
    const rest = '"text":5,"text":"","identityType":[],"identityType":"x"';
    const body = `{"identity":"${first}",${rest},"identity":"${last}"}`;
    const { entry } = await gateway.contribute('garden', body);
    assert.equal(entry.body, body.slice(1, -1));
    assert.equal((await gateway.by(first)).length, 0);
    assert.equal((await gateway.by(last)).length, 1);
    const wrong = await gateway.post('garden', traceBody(first).replace('}', ',"text":null}'));
    wrong.problem(422, 'invalid-entry');
    const unset = `{"to":"${first}","to":null}`;
    await gateway.contribute('garden', traceBody(first).replace('}', `,${unset.slice(1)}`));
    assert.equal((await gateway.list(query('/api/garden', [['to', first]]))).entries.length, 0);
  }),
  check('4.5', 'escaped-names', async (gateway) => {
    const identity = uniqueName();
    const garden = String.raw`{"\u0074ext":"","\u0069dentit\u0079":"${identity}","identityT\u0079pe":""}`;
    const { entry } = await gateway.contribute('garden', garden);
    assert.equal(entry.body, garden.slice(1, -1));
    assert.equal((await gateway.by(identity)).length, 1);
    const own = String.raw`{"\u0069d":1,"se\u0071":2,"\u006b\u0069\u006E\u0064":3,"time\u0073tamp":4}`;
    assert.deepEqual(await kept(gateway, own), [
      'visitor_id=1',
      'visitor_seq=2',
      'visitor_kind=3',
      'visitor_timestamp=4',
    ]);
    const values = entryOf((await gateway.read(entry.path)).text).fields;
    assert.equal(values['identity'], identity);
  }),
];
