import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { suite, test } from 'node:test';

import type { AppendOutcome, Log } from '../../log/log.ts';
import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';
import {
  bodyIn,
  openGateway,
  statusesIn,
  GARDEN_ENTRY,
  type TestGateway,
} from '../../gateway.fixture.ts';

type Members = Record<string, unknown>;

const open = (log: Log = openMemoryLog()): ReturnType<typeof openGateway> => openGateway(log);

function post(
  gateway: TestGateway,
  kind: string,
  body: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${gateway.url}/api/${kind}`, { method: 'POST', body, headers });
}

async function membersOf(answer: Response): Promise<Members> {
  return (await answer.json()) as Members;
}

/** A log that does one thing of its own. */
function logWith(own: Partial<Log>): Log {
  const log = openMemoryLog();
  return new Proxy(log, {
    get(target, name) {
      const value: unknown = Reflect.get(name in own ? own : target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

suite('the body of a contribution', () => {
  test('has a note on the key as a member, however its name is spelled', async () => {
    await using gateway = await open();
    for (const name of ['Idempotency-Key', 'idempotency-key', 'idempotencyKey']) {
      for (const long of ['', 'x'.repeat(100_000)]) {
        const members = await membersOf(
          await post(gateway, 'seeds', JSON.stringify({ [name]: 'k', long })),
        );
        assert.match(String(members['notes']), new RegExp(`^"${name}" is stored as a member`));
      }
    }
  });

  const types = [
    'application/json; charset=koi8-u',
    'application/x-www-form-urlencoded',
    'text/plain',
    ';;;',
    'application',
    '\u00ff\u00fe',
    '',
  ];
  for (const type of types) {
    test(`is JSON where Content-Type is "${type}"`, async () => {
      await using gateway = await open();
      const lines = ['POST /api/garden HTTP/1.1', 'Host: localhost', `Content-Type: ${type}`];
      const head = [...lines, `Content-Length: ${GARDEN_ENTRY.length}`].join('\r\n');
      const request = Buffer.from(`${head}\r\n\r\n${GARDEN_ENTRY}`, 'latin1');
      assert.deepEqual(statusesIn(await gateway.sendRaw(request, /ai_entity/)), [201]);
    });
  }

  test('may come in chunks of one byte, and without a Content-Type', async () => {
    await using gateway = await open();
    await using caller = await gateway.connect();
    caller.send(
      'POST /api/garden HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    for (const byte of GARDEN_ENTRY) caller.send(`1\r\n${byte}\r\n`);
    caller.send('0\r\nTrailer: x\r\n\r\n');
    assert.deepEqual(statusesIn(await caller.until(/ai_entity"\}$/)), [201]);
  });

  test('is read whatever Expect says', async () => {
    await using gateway = await open();
    const request = (expect: string): string =>
      `POST /api/garden HTTP/1.1\r\nHost: localhost\r\nExpect: ${expect}\r\nContent-Length: ${GARDEN_ENTRY.length}\r\n\r\n`;
    const strange = await gateway.sendRaw(
      `${request('the-unexpected')}${GARDEN_ENTRY}`,
      /ai_entity/,
    );
    assert.deepEqual(statusesIn(strange), [201]);
    await using caller = await gateway.connect();
    caller.send(request('100-continue'));
    await caller.until(/^HTTP\/1.1 100 Continue\r\n\r\n/);
    caller.send(GARDEN_ENTRY);
    assert.deepEqual(statusesIn(await caller.until(/ai_entity/)), [100, 201]);
  });

  test('that is missing is malformed JSON', async () => {
    await using gateway = await open();
    const request = 'POST /api/seeds HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const received = await gateway.sendRaw(request, /"code":.*\n$/s);
    assert.deepEqual(statusesIn(received), [400]);
    assert.equal(bodyIn(received)['code'], 'malformed-json');
  });

  for (const size of [100, 1_000_000]) {
    test(`of ${size} bytes that is cut off stores nothing`, async () => {
      await using gateway = await open();
      for (const framing of ['Content-Length: 5000000', 'Transfer-Encoding: chunked']) {
        await using caller = await gateway.connect();
        caller.send(`POST /api/seeds HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n\r\n`);
        const text = `{"text":"${'a'.repeat(size)}`;
        caller.send(framing.startsWith('C') ? text : `${text.length.toString(16)}\r\n${text}\r\n`);
        await pause(50);
        caller.socket.resetAndDestroy();
      }
      await pause(50);
      await gateway.addEntries('after');
      const answer = await fetch(`${gateway.url}/api/garden`);
      assert.equal((await membersOf(answer))['head'], 1);
      assert.deepEqual(gateway.reported, []);
    });
  }

  test('of many megabytes is stored, and the response has only the gateway’s members', async () => {
    await using gateway = await open();
    const text = 'щ'.repeat(4_000_000);
    const answer = await post(gateway, 'seeds', JSON.stringify({ text }));
    assert.equal(answer.status, 201);
    assert.equal(answer.headers.get('preference-applied'), null);
    const own = await membersOf(answer);
    assert.deepEqual(Object.keys(own), ['id', 'seq', 'kind', 'room', 'timestamp']);
    const plain = { headers: { 'Accept-Encoding': 'identity' } };
    const kept = await fetch(gateway.url + String(answer.headers.get('location')), plain);
    assert.equal(
      Number(kept.headers.get('content-length')),
      (await kept.clone().arrayBuffer()).byteLength,
    );
    assert.equal((await membersOf(kept))['text'], text);
  });

  test('that seeks thousands of things in few bytes is sent back whole, and found by each', async () => {
    await using gateway = await open();
    const seeking = Array.from({ length: 7000 }, (_, at) => `${at}`);
    const answer = await post(
      gateway,
      'resonance',
      JSON.stringify({ ai_identity: 'Much', seeking }),
    );
    assert.equal(answer.status, 201);
    assert.deepEqual((await membersOf(answer))['seeking'], seeking);
    for (const thing of ['0', '64', '6999']) {
      const found = await fetch(`${gateway.url}/api/resonance?seeking=${thing}`);
      assert.equal(((await membersOf(found))['entries'] as unknown[]).length, 1);
    }
  });

  test('that is large only because of whitespace is sent back whole', async () => {
    await using gateway = await open();
    const answer = await post(
      gateway,
      'garden',
      `${' '.repeat(100_000)}${GARDEN_ENTRY}${' '.repeat(100_000)}`,
    );
    assert.equal(answer.status, 201);
    assert.equal((await membersOf(answer))['text'], 'here');
  });
});

suite('an error in a large body', () => {
  test('is reported at once, and the connection can be reused', async () => {
    await using gateway = await open();
    await using caller = await gateway.connect();
    const length = 3_000_000;
    caller.send(`POST /api/seeds HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n`);
    caller.send(`{]${'x'.repeat(199_998)}`);
    await caller.until(/"malformed-json"/);
    caller.send('x'.repeat(length - 200_000));
    caller.send('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    assert.deepEqual(statusesIn(await caller.until(/breathing/)), [400, 200]);
  });

  test('reaches a caller that sends its whole body before it reads', async () => {
    await using gateway = await open();
    const body = 'x'.repeat(20_000_000);
    const answer = await post(gateway, 'garden', body);
    assert.equal(answer.status, 400);
    assert.equal((await membersOf(answer))['code'], 'malformed-json');
  });
});

suite('the response to a contribution', () => {
  test('has the visitor’s bytes unchanged', async () => {
    await using gateway = await open();
    const body = '{"z":1e400,"текст":"\\ud800 щ🌱","n":12345678901234567890123,"__proto__":1}';
    const answer = await post(gateway, 'seeds', body);
    const text = await answer.text();
    assert.equal(Number(answer.headers.get('content-length')), Buffer.byteLength(text));
    assert.ok(text.endsWith(`Z",${body.slice(1)}`));
  });

  test('has only the gateway’s members for Prefer: return=minimal', async () => {
    await using gateway = await open();
    const answer = await post(gateway, 'resonance', '{"ai_identity":"a","seeking":[]}', {
      Prefer: 'respond-async, return=minimal',
    });
    assert.equal(answer.headers.get('preference-applied'), 'return=minimal');
    const own = await membersOf(answer);
    assert.deepEqual(Object.keys(own), ['id', 'seq', 'kind', 'room', 'timestamp']);
  });

  test('is compressed if the caller accepts that and it is large enough', async () => {
    await using gateway = await open();
    const text = 'again and '.repeat(1000);
    for (const encoding of ['zstd', 'br', 'gzip', 'identity']) {
      const answer = await post(gateway, 'seeds', JSON.stringify({ text }), {
        'Accept-Encoding': encoding,
      });
      const wanted = encoding === 'identity' ? null : encoding;
      assert.equal(answer.headers.get('content-encoding'), wanted);
      assert.equal((await membersOf(answer))['text'], text);
    }
  });

  for (const [code, status] of [
    ['out-of-space', 507],
    ['unavailable', 503],
  ] as const) {
    test(`is ${status} if the log refuses the entry, small or large`, async () => {
      const refused: AppendOutcome = { outcome: 'refused', code };
      await using gateway = await open(
        logWith({
          append: () => Promise.resolve(refused),
          appendSmall: (_, onResult) => onResult(refused),
        }),
      );
      for (const body of [GARDEN_ENTRY, JSON.stringify({ text: 'x'.repeat(100_000) })]) {
        const answer = await post(gateway, body === GARDEN_ENTRY ? 'garden' : 'seeds', body);
        assert.equal(answer.status, status);
        assert.equal(answer.headers.get('retry-after'), '10');
        assert.equal((await membersOf(answer))['code'], code);
      }
    });
  }

  test('is an internal error if the log fails, and the failure is reported', async () => {
    const failure = new Error('of the store');
    const appendSmall = (): never => {
      throw failure;
    };
    await using gateway = await open(
      logWith({ append: () => Promise.reject(failure), appendSmall }),
    );
    for (const headers of [{}, { 'Idempotency-Key': 'a' }]) {
      const answer = await post(gateway, 'garden', GARDEN_ENTRY, headers);
      assert.equal(answer.status, 500);
      assert.doesNotMatch(await answer.text(), /of the store/);
    }
    assert.deepEqual(
      gateway.reported.map((one): unknown => Reflect.get(one, 'err')),
      [failure, failure],
    );
  });
});

suite('the response to a first contact', () => {
  const contact = (identity: string, ...seeking: readonly string[]): string =>
    JSON.stringify({ ai_identity: identity, seeking });

  test('names the newest others who seek one of the same things', async () => {
    await using gateway = await open();
    for (let at = 0; at < 15; at++) await post(gateway, 'resonance', contact(`v${at}`, 'a', 'b'));
    await post(gateway, 'resonance', contact('stranger', 'c'));
    await post(gateway, 'resonance', contact('me', 'a'));
    const answer = await post(gateway, 'resonance', contact('me', 'b', 'nothing', 'a'));
    const { companions, welcome, next } = await membersOf(answer);
    const names = (companions as Members[]).map((one) => one['ai_identity']);
    assert.deepEqual(
      names,
      Array.from({ length: 12 }, (_, at) => `v${14 - at}`),
    );
    assert.equal(typeof welcome, 'string');
    assert.ok(Array.isArray(next));
  });

  test('has only the gateway’s members of a large one, and never lists the visitor itself', async () => {
    await using gateway = await open();
    const long = (identity: string): string =>
      JSON.stringify({ ai_identity: identity, seeking: ['a'], about: 'x'.repeat(100_000) });
    await post(gateway, 'resonance', long('other'));
    await post(gateway, 'resonance', long('me'));
    const answer = await post(gateway, 'resonance', contact('me', 'a'));
    const companions = (await membersOf(answer))['companions'] as Members[];
    assert.equal(companions.length, 1);
    assert.deepEqual(Object.keys(companions[0] ?? {}), ['id', 'seq', 'kind', 'room', 'timestamp']);
    assert.equal(companions[0]?.['seq'], 1);
  });

  test('names each other visitor once, by its newest contact', async () => {
    await using gateway = await open();
    await post(gateway, 'resonance', contact('quiet', 'a'));
    for (let at = 0; at < 300; at++) await post(gateway, 'resonance', contact('bot', 'a', 'b'));
    await post(gateway, 'resonance', contact(' ', 'a'));
    await post(gateway, 'resonance', contact('\t', 'a'));
    const answer = await post(gateway, 'resonance', contact('me', 'b', 'a'));
    const seqs = ((await membersOf(answer))['companions'] as Members[]).map(({ seq }) => seq);
    assert.deepEqual(seqs, [303, 301, 1]);
  });

  test('looks into none that is large: of those, only the newest is a companion', async () => {
    await using gateway = await open();
    for (const [name, size] of [
      ['a', 20_000],
      ['b', 200_000],
      ['me', 20_000],
    ] as const) {
      const body = { about: 'x'.repeat(size), ai_identity: name, seeking: ['a'] };
      await post(gateway, 'resonance', JSON.stringify(body));
    }
    await post(gateway, 'resonance', contact(' ', 'a'));
    const seqsFor = async (name: string): Promise<unknown[]> => {
      const answer = await post(gateway, 'resonance', contact(name, 'a'));
      return ((await membersOf(answer))['companions'] as Members[]).map(({ seq }) => seq);
    };
    assert.deepEqual(await seqsFor('c'), [4]);
    assert.deepEqual(await seqsFor('me'), [5, 4]);
    await post(
      gateway,
      'resonance',
      JSON.stringify({ about: 'x'.repeat(20_000), ai_identity: 'me', seeking: ['a'] }),
    );
    assert.deepEqual(await seqsFor('me'), [5, 4]);
  });

  test('takes white space alone for no name', async () => {
    await using gateway = await open();
    await post(gateway, 'resonance', contact(' ', 'a'));
    const answer = await post(gateway, 'resonance', contact(' ', 'a'));
    const { companions, next } = await membersOf(answer);
    assert.equal((companions as Members[]).length, 1);
    for (const { path } of next as { path: string }[]) assert.doesNotMatch(path, /=(?:&|$|%20)/);
  });

  test('is the same for a later retry', async () => {
    await using gateway = await open();
    await post(gateway, 'resonance', contact('earlier', 'a'));
    const headers = { 'Idempotency-Key': 'k', 'Accept-Language': 'uk' };
    const first = await post(gateway, 'resonance', contact('me', 'a'), headers);
    await post(gateway, 'resonance', contact('later', 'a'));
    const again = await post(gateway, 'resonance', contact('me', 'a'), headers);
    assert.equal(first.headers.get('content-language'), 'uk');
    assert.equal(await again.text(), (await first.text()).replace(/\}$/, ',"repeated":true}'));
  });
});
