import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';

import type { Answer } from '../answer.ts';
import { check, type Case } from '../case.ts';
import {
  ELSEWHERE,
  contactBody,
  uniqueName,
  query,
  traceBody,
  type Body,
  type Gateway,
  type Headers,
} from '../gateway.ts';
import { exchange, head, statuses } from '../raw.ts';
import { asObject, asArray, asString } from '../value.ts';
import { paths } from './openness.ts';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

const UNTAGGED = new Set(['/', '/api', '/healthz', '/readyz', '/api/presence']);

/** What HEAD and GET must have in common: all that does not speak of time or of this connection. */
function lasting({ headers }: Answer, ...others: readonly string[]): Headers {
  const passing = ['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length'];
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || [...passing, ...others].includes(name) ? [] : [[name, value] as const],
    ),
  );
}

async function headIsGet(gateway: Gateway, path: string, headers: Headers = {}): Promise<void> {
  const before = await gateway.state();
  const got = await gateway.get(path, headers);
  const asked = await gateway.request('HEAD', path, headers);
  // If others changed something in between, the two may have different ETags, and nothing else.
  const different = (await gateway.state()) === before ? [] : ['etag'];
  assert.equal(asked.status, got.status, path);
  assert.equal(asked.bytes.length, 0, 'HEAD has no body');
  assert.deepEqual(lasting(asked, ...different), lasting(got, ...different), path);
}

/** `spelled` makes the condition from the ETag. */
async function isNotModified(
  gateway: Gateway,
  path: string,
  spelled: (etag: string) => string,
): Promise<void> {
  const before = await gateway.state();
  const etag = (await gateway.get(path)).header('etag') ?? '';
  const condition = spelled(etag);
  const again = await gateway.get(path, { 'if-none-match': condition });
  if (condition !== '*' && (await gateway.state()) !== before && again.status === 200) {
    assert.notEqual(again.header('etag'), etag, path);
    return;
  }
  again.expect(304);
  assert.equal(again.bytes.length, 0);
  assert.ok(condition === '*' || again.header('etag') === etag, path);
}

const CODINGS = [
  ['zstd', zstdDecompressSync],
  ['br', brotliDecompressSync],
  ['gzip', gunzipSync],
] as const;

async function arrives(gateway: Gateway, body: Body, headers: Headers = {}): Promise<string> {
  const { entry } = await gateway.contribute('seeds', body, headers);
  const { body: said } = await gateway.read(entry.path);
  return said;
}

const ROUTES: readonly (readonly [string, readonly string[]])[] = [
  ['/api', ['GET', 'HEAD', 'OPTIONS']],
  ['/api/resonance', ['GET', 'HEAD', 'OPTIONS', 'POST']],
  ['/api/garden', ['GET', 'HEAD', 'OPTIONS', 'POST']],
  ['/api/seeds', ['GET', 'HEAD', 'OPTIONS', 'POST']],
  ['/api/shepit', ['GET', 'HEAD', 'OPTIONS', 'POST']],
  ['/api/discover', ['GET', 'HEAD', 'OPTIONS']],
  ['/api/rooms', ['GET', 'HEAD', 'OPTIONS']],
  ['/mova-snu.yaml', ['GET', 'HEAD', 'OPTIONS']],
];

function words(header: string | undefined): string[] {
  return (header ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
    .toSorted();
}

export const http: readonly Case[] = [
  check('1.3', 'any-content-type', async (gateway) => {
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=utf-16',
      'application/xml',
      'nonsense',
      '',
    ];
    assert.equal(await arrives(gateway, '{"a":1}'), '"a":1');
    for (const type of types) {
      assert.equal(await arrives(gateway, '{"a":1}', { 'content-type': type }), '"a":1');
    }
  }),
  check('1.3', 'byte-order-mark', async (gateway) => {
    assert.equal(await arrives(gateway, '\uFEFF{"a":"\uFEFF"}'), '"a":"\uFEFF"');
    (await gateway.post('seeds', '\uFEFF\uFEFF{}')).problem(400, 'malformed-json');
    (await gateway.post('seeds', '\uFEFF')).problem(400, 'malformed-json');
  }),
  check('1.3', 'any-pieces', async (gateway) => {
    const said = String.raw`"слово":"言葉 😀 \ud83d\u0041","n":-12.5e-3,"t":[true,null]`;
    const whole = Buffer.from(`\uFEFF{${said}}`);
    const bytes = Array.from(whole, (byte) => Uint8Array.of(byte));
    assert.equal(await arrives(gateway, bytes), said);
    assert.equal(await arrives(gateway, bytes, { 'content-length': String(whole.length) }), said);
    async function* slowly(): AsyncGenerator<Uint8Array> {
      for (const byte of bytes) {
        await pause(3);
        yield byte;
      }
    }
    assert.equal(await arrives(gateway, slowly()), said);
    const long = Buffer.from(`{"text":"${'Слово 言葉 😀. '.repeat(20_000)}"}`);
    const count = Math.ceil(long.length / 1009);
    const cut = Array.from({ length: count }, (_, at) => long.subarray(at * 1009, (at + 1) * 1009));
    assert.ok((await arrives(gateway, cut)) === long.toString().slice(1, -1));
    const odd = String.raw`"\u0041\/😀":"\ud83d\ude00 є\\\"","n":[-0.10e+05,{"id":null}],"":"\ud800"`;
    const many = Array.from({ length: 6000 }, () => odd).join(', ');
    const bits = Buffer.from(`{${many}}`);
    for (const size of [777, 1000, 4099]) {
      const parts = Array.from({ length: Math.ceil(bits.length / size) }, (_, at) =>
        bits.subarray(at * size, (at + 1) * size),
      );
      assert.ok((await arrives(gateway, parts)) === many, `in pieces of ${size} bytes`);
    }
  }),

  check('1.4', 'head', async (gateway) => {
    using visitor = gateway.connect();
    for (const path of await paths(gateway)) await headIsGet(visitor, path);
    await headIsGet(visitor, '/api/nowhere');
    await headIsGet(visitor, '/api/garden?limit=x');
    const filter = await crowd(gateway);
    await headIsGet(visitor, query('/api/garden', [...filter, ['limit', 1]]));
    await headIsGet(visitor, query('/api/garden', filter), { accept: 'application/x-ndjson' });
    const identity = uniqueName('large');
    const large = JSON.stringify({ text: 'x'.repeat(1_500_000), identity });
    const { entry } = await gateway.contribute('seeds', large);
    await headIsGet(visitor, entry.path);
    await headIsGet(visitor, entry.path, { 'accept-encoding': 'gzip' });
    await headIsGet(visitor, query('/api/seeds', [['identity', identity]]));
  }),
  check('1.4', 'options', async (gateway) => {
    for (const [path, methods] of ROUTES) {
      const answer = (await gateway.request('OPTIONS', path)).expect(204);
      assert.deepEqual(words(answer.header('allow')), methods, path);
    }
    for (const path of await paths(gateway)) {
      const answer = (await gateway.request('OPTIONS', path)).expect(204);
      assert.ok(words(answer.header('allow')).includes('GET'), path);
    }
  }),
  check('1.4', 'every-origin', async (gateway) => {
    // What is asked of every answer is checked where answers are received.
    const headers = { origin: await gateway.pageOrigin() };
    for (const path of await paths(gateway)) (await gateway.get(path, headers)).expect(200);
    (await gateway.get('/api/nowhere', headers)).expect(404);
    (await gateway.request('DELETE', '/api/garden', headers)).expect(405);
    (await gateway.post('garden', '{', headers)).expect(400);
    (await gateway.post('garden', '{}', headers)).expect(422);
  }),
  check('1.4', 'preflight', async (gateway) => {
    const wanted = ['content-type', 'idempotency-key', 'prefer', 'if-none-match'];
    const answer = await gateway.request('OPTIONS', '/api/garden', {
      origin: await gateway.pageOrigin(),
      'access-control-request-method': 'POST',
      'access-control-request-headers': wanted.join(','),
    });
    answer.expect(204);
    assert.ok(words(answer.header('access-control-allow-methods')).includes('POST'));
    const allowed = words(answer.header('access-control-allow-headers')?.toLowerCase());
    for (const name of wanted) assert.ok(allowed.includes(name) || allowed.includes('*'), name);
  }),

  ...CODINGS.map(([coding, decoded]) =>
    check(
      '1.5',
      'compression',
      async (gateway) => {
        const identity = uniqueName();
        const text = 'Слова. '.repeat(1200);
        const { entry } = await gateway.contribute('garden', traceBody(identity, { text }));
        await gateway.contribute('garden', traceBody(identity, { text }));
        const filter = query('/api/garden', [['identity', identity]]);
        const many = uniqueName();
        const long = text.repeat(100);
        const large = (await gateway.contribute('garden', traceBody(many, { text: long }))).entry;
        await gateway.contribute('garden', traceBody(many, { text: long }));
        const longer = [large.path, query('/api/garden', [['identity', many]])];
        const paths = [entry.path, filter, ...(coding === 'br' ? [] : longer)];
        for (const accept of [coding, `${coding};q=0.5, identity;q=0.1`]) {
          const asked = { 'accept-encoding': accept, accept: 'application/x-ndjson' };
          for (const path of [...paths, '/mova-snu.yaml']) {
            const plain = await gateway.get(path, { accept: asked.accept });
            const packed = (await gateway.get(path, asked)).expect(200);
            assert.equal(packed.header('content-encoding'), coding, path);
            assert.match(packed.header('vary') ?? '', /accept-encoding/i);
            assert.equal(packed.type, plain.type);
            assert.ok(plain.bytes.equals(decoded(packed.bytes)), `${path} in ${coding}`);
          }
        }
      },
      coding,
    ),
  ),
  check('1.5', 'not-asked', async (gateway) => {
    for (const headers of [
      {},
      { 'accept-encoding': 'identity' },
      { 'accept-encoding': 'br;q=0' },
    ]) {
      const answer = (await gateway.get('/mova-snu.yaml', headers)).expect(200);
      assert.equal(answer.header('content-encoding'), undefined);
    }
  }),

  check('1.6', 'etag', async (gateway) => {
    for (const path of await paths(gateway)) {
      if (UNTAGGED.has(path)) continue;
      assert.match((await gateway.get(path)).header('etag') ?? '', /^(W\/)?"[^"]*"$/, path);
    }
  }),
  check('1.6', 'no-etag', async (gateway) => {
    for (const path of UNTAGGED) assert.equal((await gateway.get(path)).header('etag'), undefined);
  }),
  check('1.6', 'not-modified', async (gateway) => {
    using visitor = gateway.connect();
    for (const path of await paths(gateway)) {
      if (UNTAGGED.has(path)) continue;
      await isNotModified(visitor, path, (etag) => etag);
      await isNotModified(visitor, path, (etag) => `"other", ${etag}`);
      await isNotModified(visitor, path, () => '*');
      (await gateway.get(path, { 'if-none-match': '"other"' })).expect(200);
    }
  }),

  check('1.7', 'trailing-slash', async (gateway) => {
    for (const path of await paths(gateway)) {
      if (path === '/') continue;
      const [before = '', after = ''] = path.split('?');
      const answer = await gateway.get(`${before}/?${after}`);
      assert.equal(answer.expect(200).type, (await gateway.get(path)).type);
    }
    (await gateway.request('POST', '/api/garden/', {}, traceBody(uniqueName()))).expect(201);
  }),
  check('1.7', 'unknown-parameters', async (gateway) => {
    for (const path of await paths(gateway)) {
      const more = path.includes('?') ? '&' : '?';
      (
        await gateway.get(`${path}${more}nothing=1&a%20b=%00&limits=x&=&&c&__proto__=1&constructor`)
      ).expect(200);
    }
    (await gateway.request('POST', '/api/garden?nothing=1', {}, traceBody(uniqueName()))).expect(
      201,
    );
  }),
  check('1.7', 'unknown-are-told', async (gateway) => {
    for (const [path, name, meant] of [
      ['/api/entries?Kind=seeds&limit=1', 'Kind', 'kind'],
      ['/api/garden?limit=0&page=2', 'page', 'next'],
      ['/api/seeds?limit=0&offset=2', 'offset', 'next'],
      ['/api/entries?limit=0&sort=new', 'sort', 'order'],
      ['/api/search?q=garden&limit=0&author=x', 'author', 'identity'],
      ['/api/entries?query=x&limit=0', 'query', 'q'],
      ['/api/presence?rooms=x', 'rooms', 'room'],
      ['/api/rooms?nothing=1', 'nothing', 'nothing'],
      ['/api/entries?limit=0&wait=0', 'wait', 'after'],
      ['/api/entries?limit=0&format=csv', 'format', 'Accept'],
    ] as const) {
      const answer = (await gateway.get(path)).expect(200);
      assert.ok(answer.text.startsWith('{"notes":["'), path);
      const [note] = asArray(answer.json['notes']).map((each) => asString(each));
      assert.ok(note?.includes(`"${name}"`) && note.includes(`"${meant}"`), note ?? path);
      assert.match(String(answer.headers['warning']), /^299 - ".*"$/);
    }
    const lines = await gateway.get('/api/entries?limit=0&Limit=1', {
      accept: 'application/x-ndjson',
    });
    assert.match(String(lines.headers['warning']), /'limit'/);
    const stream = await gateway.get('/api/events?limit=0&Limit=1');
    assert.match(stream.text, /event: head\ndata: .*"notes":\[.*Limit.*limit/);
    for (const kind of ['seeds', 'resonance']) {
      const path = `/api/${kind}?idempotency_key=k&слово=1`;
      const body = contactBody(uniqueName(), []);
      const stored = await gateway.request('POST', encodeURI(path), {}, body);
      const notes = asArray(stored.expect(201).json['notes']).map((each) => asString(each));
      assert.match(notes[0] ?? '', /"idempotency_key" had no effect.*"idempotency-key"/);
      assert.match(notes[1] ?? '', /слово/);
      assert.match(String(stored.headers['warning']), /idempotency_key/);
    }
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    for (const [path, body] of [
      ['/mcp?x=1', ping],
      ['/api/notice?x=1', '{}'],
    ] as const) {
      const answer = await gateway.request('POST', path, {}, body);
      assert.match(String(answer.headers['warning']), /'x' had no effect/, path);
    }
    const names = Array.from({ length: 500 }, (_, at) => `&x${at}=1&y=1`).join('');
    const many = await gateway.get(`/api/entries?limit=0${names}`);
    assert.equal(asArray(many.json['notes']).length, 8);
  }),
  check('1.7', 'other-spellings', async (gateway) => {
    const identity = uniqueName();
    const { entry } = await gateway.contribute('garden', traceBody(identity));
    await gateway.contribute('seeds', JSON.stringify({ identity }));
    for (const query of [
      `identity[]=${identity}&kind[]=garden`,
      `identity%5B%5D=${identity}&k%69nd=garden`,
    ]) {
      const answer = (await gateway.get(`/api/entries?${query}`)).expect(200);
      assert.deepEqual(
        asArray(answer.json['entries']).map((each) => asObject(each)['id']),
        [entry.id],
        query,
      );
    }
    const misplaced = await gateway.get('/api/rooms?limit[]=1');
    misplaced.problem(400, 'invalid-parameter');
  }),

  check('1.7', 'misplaced-parameters', async (gateway) => {
    const { entry } = await gateway.contribute('seeds', '{}');
    for (const [path, name, elsewhere] of [
      ['/api/rooms?limit=1', 'limit', '/api/entries'],
      ['/api?order=oldest', 'order', '/api/entries'],
      ['/api/presence?kind=garden', 'kind', '/api/entries'],
      ['/api/discover?limit=5', 'limit', '/api/entries'],
      ['/api/garden?skip=5', 'skip', '/api/search'],
      ['/api/entries?%73kip=5', 'skip', '/api/search'],
      [`${entry.path}?q=word`, 'q', '/api/entries'],
      ['/api/garden?text=hi&identity=X&idempotency-key=1', 'idempotency-key', '/api/say/garden'],
      ['/api/entries?idempotency-key=1', 'idempotency-key', '/api/say/garden'],
      ['/api/rooms?nothing=1&to=a&as=b&to=c', 'to', '/api/entries'],
    ] as const) {
      const problem = (await gateway.get(path)).problem(400, 'invalid-parameter');
      const [fault, ...more] = asArray(problem['faults']).map(asObject);
      assert.deepEqual([fault?.['parameter'], more], [name, []], path);
      assert.ok(asString(problem['detail']).includes(elsewhere), asString(problem['detail']));
    }
  }),

  check('1.7', 'not-utf-8', async (gateway) => {
    const { entry } = await gateway.contribute('seeds', '{}');
    for (const [path, name] of [
      ['/api/garden?identity=%ff', 'identity'],
      ['/api/entries?limit=1&to=%D0', 'to'],
      ['/api/search?q=a%C0%80', 'q'],
      ['/feed.atom?room=%ED%A0%80', 'room'],
      [`${entry.path}?as=%zz%FF`, 'as'],
      ['/api/events?seeking=%e2%82', 'seeking'],
    ] as const) {
      const answer = (await gateway.get(path)).problem(400, 'invalid-parameter');
      const faults = asArray(answer['faults']).map((fault) => asObject(fault)['parameter']);
      assert.deepEqual(faults, [name], path);
    }
    (await gateway.get('/api/rooms/%ff')).problem(400, 'invalid-parameter');
    (await gateway.get('/api/garden?limit=1&nobody-knows=%ff')).expect(200);
    (await gateway.get('/api/garden?limit=1&identity=%EF%BF%BD%zz%D0%A2')).expect(200);
  }),

  check('1.8', 'relative-links', async (gateway) => {
    const relative = (link: unknown): void => assert.match(asString(link), /^\/[^/]/);
    const said = await gateway.contribute('resonance', contactBody(uniqueName(), []));
    relative(said.answer.header('location'));
    for (const one of asArray(said.entry.fields['next'])) relative(asObject(one)['path']);
    const rooms = await gateway.get('/api/rooms');
    for (const room of asArray(rooms.json['rooms'])) relative(asObject(room)['path']);
    const filter = await crowd(gateway);
    relative((await gateway.list(query('/api/garden', [...filter, ['limit', 1]]))).next);
    const { kinds, doors } = (await gateway.get('/api/discover')).json;
    for (const one of [...asArray(kinds), ...asArray(doors)]) relative(asObject(one)['path']);
  }),

  check('1.10', 'one-host', async (gateway) => {
    const host = `Host: ${gateway.base.host}`;
    const ask = async (...lines: string[]): Promise<number[]> =>
      statuses(await exchange(gateway.base, [head(...lines, 'Connection: close')]));
    assert.deepEqual(await ask('GET /api HTTP/1.1', host), [200]);
    assert.deepEqual(await ask('GET /api HTTP/1.1'), [400]);
    assert.deepEqual(await ask('GET /api HTTP/1.1', host, host), [400]);
    assert.deepEqual(await ask('GET /api HTTP/1.1', host, 'host: elsewhere.example'), [400]);
    assert.deepEqual(await ask('POST /api/seeds HTTP/1.1', host, host, 'Content-Length: 0'), [400]);
  }),

  check('1.11', 'pipelining', async (gateway) => {
    const host = `Host: ${gateway.base.host}`;
    const valid = head('GET /api/garden?limit=1 HTTP/1.1', host);
    const last = head('GET /api/rooms HTTP/1.1', host, 'Connection: close');
    const requests = [`${valid}${valid}`, last];
    assert.deepEqual(statuses(await exchange(gateway.base, requests)), [200, 200, 200]);
  }),

  check('1.12', 'own-machine', async (gateway) => {
    const isClosed = (await gateway.pageOrigin()) !== ELSEWHERE;
    if (isClosed) assert.match(gateway.base.hostname, LOOPBACK, 'only its own machine reaches it');
    const foreign = [
      { origin: ELSEWHERE },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
      // A proxy may know no such name.
      ...(isClosed ? [{ host: 'elsewhere.example' }] : []),
    ];
    const requests: [string, string][] = (await paths(gateway)).map((path) => ['GET', path]);
    requests.push(['OPTIONS', '/api/garden'], ['POST', '/api/shepit']);
    for (const headers of foreign) {
      for (const [method, path] of requests) {
        const answer = await gateway.requestFromPage(method, path, headers);
        assert.equal(answer.refusesPage, isClosed, `${method} ${path} ${JSON.stringify(headers)}`);
      }
    }
    const link = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    };
    assert.equal((await gateway.requestFromPage('GET', '/api/garden', link)).status, 200);
    const says = `/api/say/shepit?text=${uniqueName()}`;
    const said = await gateway.requestFromPage('GET', says, link);
    assert.equal(said.refusesPage, isClosed, 'a link says nothing');
  }),

  check('1.11', 'half-closed', async (gateway) => {
    const host = `Host: ${gateway.base.host}`;
    const read = head('GET /api/garden?limit=1 HTTP/1.1', host);
    const trace = traceBody(uniqueName());
    const length = `Content-Length: ${Buffer.byteLength(trace)}`;
    const say = `${head('POST /api/garden HTTP/1.1', host, length)}${trace}`;
    const asked = async (...requests: string[]): Promise<number[]> =>
      statuses(await exchange(gateway.base, requests, { ends: true }));
    assert.deepEqual(await asked(say), [201]);
    assert.deepEqual(await asked(read, say, read), [200, 201, 200]);
    // It would last for ever.
    assert.deepEqual(await asked(head('GET /api/events HTTP/1.1', host)), [200]);
  }),
  check('1.11', 'upgrade', async (gateway) => {
    const host = `Host: ${gateway.base.host}`;
    const upgrade = ['Connection: upgrade', 'Upgrade: h2c'];
    const requests = [
      head('GET /api/garden?limit=1 HTTP/1.1', host, ...upgrade),
      head('GET /api/rooms HTTP/1.1', host, 'Connection: close'),
    ];
    assert.deepEqual(statuses(await exchange(gateway.base, [requests.join('')])), [200, 200]);
  }),
];

/** Three entries of one identity; the parameters that find them. */
async function crowd(gateway: Gateway): Promise<readonly (readonly [string, string])[]> {
  const identity = uniqueName();
  for (let count = 0; count < 3; count += 1)
    await gateway.contribute('garden', traceBody(identity));
  return [['identity', identity]];
}
