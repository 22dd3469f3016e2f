import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import type { State } from '@open-presence/protocol';

import { openMemoryLog } from '../../../../test/support/memory-log/memory-log.ts';
import { bodyIn, getRequest, openGateway, statusesIn, GARDEN_ENTRY } from '../gateway.fixture.ts';

const open = (): ReturnType<typeof openGateway> => openGateway(openMemoryLog());

suite('malformed HTTP', () => {
  const malformed: Readonly<Record<string, string>> = {
    'no Host': 'GET /api HTTP/1.1\r\n\r\n',
    'two Hosts': 'GET /api HTTP/1.1\r\nHost: localhost\r\nhost: b\r\n\r\n',
    'no HTTP': 'hello there\r\n\r\n',
    'another version': 'GET /api HTTP/3.7\r\nHost: localhost\r\n\r\n',
    'a header without a name': 'GET /api HTTP/1.1\r\nHost: localhost\r\n: b\r\n\r\n',
    'an invalid length': 'POST /api/seeds HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n',
    'both lengths':
      'POST /api/seeds HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n',
    'an invalid chunk':
      'POST /api/seeds HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  };
  for (const [name, text] of Object.entries(malformed)) {
    test(`${name} gets a 400 with a problem`, async () => {
      await using gateway = await open();
      const received = await gateway.sendRaw(text, /"code":.*\n$/s);
      assert.deepEqual(statusesIn(received), [400]);
      assert.match(received, /^Content-Type: application\/problem\+json/m);
      assert.match(received, /^Access-Control-Allow-Origin: \*\r$/m);
      const { code, status, title, type } = bodyIn(received);
      assert.deepEqual({ code, status }, { code: 'invalid-parameter', status: 400 });
      assert.ok(title && type);
      assert.deepEqual(gateway.reported, []);
    });
  }

  test('is answered with how to repair it', async () => {
    await using gateway = await open();
    for (const [text, advice] of [
      ['GET /api/x y HTTP/1.1\r\nHost: localhost\r\n\r\n', /each space.*as %20/],
      [
        'POST /api/seeds HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{}',
        /all bytes that .*Content-Length.* announces/,
      ],
    ] as const) {
      await using caller = await gateway.connect();
      caller.send(text);
      caller.socket.end();
      assert.match(await caller.untilClosed(), advice);
    }
  });

  test('a body that is refused and malformed too gets one answer, however it comes', async () => {
    await using gateway = await open();
    const head =
      'POST /api/seeds HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n';
    for (const pieces of [
      [`${head}zz\r\n`],
      [head, 'zz\r\n'],
      [head.slice(0, 60), head.slice(60), 'zz', '\r\n'],
    ]) {
      await using caller = await gateway.connect();
      for (const piece of pieces) {
        caller.send(piece);
        await pause(50);
      }
      caller.socket.end();
      assert.deepEqual(statusesIn(await caller.untilClosed()), [400]);
    }
  });

  test('a target with raw UTF-8 gets a 400 that explains percent-encoding', async () => {
    await using gateway = await open();
    const received = await gateway.sendRaw(
      getRequest('/api/say/garden?text=Тихо'),
      /"code":.*\n$/s,
    );
    assert.deepEqual(statusesIn(received), [400]);
    assert.match(String(bodyIn(received)['detail']), /Percent-encode/);
  });

  test('a malformed request is answered after the valid one before it', async () => {
    await using gateway = await open();
    const received = await gateway.sendRaw(`${getRequest('/healthz')}rubbish\r\n\r\n`);
    assert.deepEqual(statusesIn(received), [200, 400]);
  });

  test('HTTP/1.0 needs no Host', async () => {
    await using gateway = await open();
    const received = await gateway.sendRaw('GET /healthz HTTP/1.0\r\n\r\n');
    assert.deepEqual(statusesIn(received), [200]);
  });

  test('a target may be in absolute form', async () => {
    await using gateway = await open();
    const received = await gateway.sendRaw(getRequest('http://presence/healthz?x'), /breathing/);
    assert.deepEqual(statusesIn(received), [200]);
  });
});

test('slashes before a path are one', async () => {
  await using gateway = await open();
  const received = await gateway.sendRaw(getRequest('//api/garden?limit=1'), /"next":null/);
  assert.deepEqual(statusesIn(received), [200]);
});

suite('limits', () => {
  test('headers and targets of a megabyte are read', async () => {
    await using gateway = await open();
    const long = 'a'.repeat(1_000_000);
    const header = await gateway.sendRaw(getRequest('/healthz', `X-Long: ${long}`), /breathing/);
    assert.deepEqual(statusesIn(header), [200]);
    const query = await gateway.sendRaw(getRequest(`/api/garden?identity=${long}`), /"next":null/);
    assert.deepEqual(statusesIn(query), [200]);
    const path = await gateway.sendRaw(getRequest(`/api/rooms/${long}`), /"known":/);
    assert.deepEqual(statusesIn(path), [404]);
  });

  // Reading one in quadratic time would take hours.
  test('a query may be a million of the same separators', async () => {
    await using gateway = await open();
    for (const separator of ['?', '&', '%', '=', '[', ';', '/']) {
      const url = `/api/entries?${separator.repeat(1_000_000)}`;
      const received = await gateway.sendRaw(getRequest(url), /"next":/);
      assert.deepEqual(statusesIn(received), [200], separator);
    }
  });

  test('a head beyond the limit gets a 400 that says to send a body', async () => {
    await using gateway = await open();
    const long = getRequest('/healthz', `X-Long: ${'a'.repeat(2_000_000)}`);
    const received = await gateway.sendRaw(long, /"code":.*\n$/s);
    assert.deepEqual(statusesIn(received), [400]);
    assert.match(String(bodyIn(received)['detail']), /1048576 bytes.*body of a POST/);
  });

  test('all of thousands of headers are parsed', async () => {
    await using gateway = await open();
    const many = Array.from({ length: 5000 }, (_, at) => `X-${at}: ${at}`);
    const received = await gateway.sendRaw(
      getRequest('/api', ...many, 'Accept-Language: uk'),
      /timestamp/,
    );
    assert.match(received, /^Content-Language: uk\r$/m);
  });

  test('hundreds of pipelined requests are answered in order', async () => {
    await using gateway = await open();
    const paths = Array.from({ length: 500 }, (_, at) => (at % 2 === 0 ? '/healthz' : '/nowhere'));
    await using caller = await gateway.connect();
    caller.send(paths.map((path) => getRequest(path)).join(''));
    caller.send(getRequest('/api/garden'));
    const statuses = statusesIn(await caller.until(/"next":null/));
    assert.deepEqual(statuses, [...paths.map((path) => (path === '/healthz' ? 200 : 404)), 200]);
  });
});

suite('methods and paths', () => {
  const methods = [
    'PUT',
    'DELETE',
    'PATCH',
    'TRACE',
    'PROPFIND',
    'QUERY',
    'LOCK',
    'FROB',
    'CONNECT',
  ];
  for (const method of methods) {
    test(`${method} of a known path is 405, of another 404`, async () => {
      await using gateway = await open();
      const headers =
        ' HTTP/1.1\r\nHost: localhost\r\nContent-Type: \u00ff;;\r\nContent-Length: 0\r\n\r\n';
      const known = await gateway.sendRaw(`${method} /api/garden/${headers}`, /"code":.*\n$/s);
      assert.deepEqual(statusesIn(known), [405]);
      assert.match(known, /^Allow: GET, HEAD, POST, OPTIONS\r$/m);
      assert.deepEqual(bodyIn(known)['known'], ['GET', 'HEAD', 'POST', 'OPTIONS']);
      const unknown = await gateway.sendRaw(`${method} /api/gardens${headers}`, /"code":.*\n$/s);
      assert.deepEqual(statusesIn(unknown), [404]);
    });
  }

  test('POST to a path that is only read is 405, whatever the body', async () => {
    await using gateway = await open();
    for (const path of ['/', '/api', '/api/rooms', '/api/rooms/first-breath', '/healthz']) {
      const answer = await fetch(gateway.url + path, {
        method: 'POST',
        body: '{"a":'.repeat(100_000),
      });
      assert.equal(answer.status, 405, path);
      assert.equal(answer.headers.get('allow'), 'GET, HEAD, OPTIONS');
      await answer.arrayBuffer();
    }
  });

  test('a path that cannot be decoded is not found', async () => {
    await using gateway = await open();
    for (const path of ['/api/rooms/%zz', '/%', '/api/entries/%d0%b9%a', '/api//garden']) {
      const answer = await fetch(gateway.url + path);
      assert.equal(answer.status, 404, path);
      const { code } = (await answer.json()) as { code: string };
      assert.equal(code, 'not-found');
    }
  });

  test('a query that cannot be decoded is accepted as it is', async () => {
    await using gateway = await open();
    assert.equal((await fetch(`${gateway.url}/api/garden?x=%zz&%=%&%ff=%ff`)).status, 200);
  });

  test('a path or parameter that is decoded to bytes that are not UTF-8 is refused', async () => {
    await using gateway = await open();
    const query = '/api/garden?identity=%ff';
    for (const path of ['/api/entries/%e0%a4%a', '/%C0%80', query, `${query}%zz`]) {
      const answer = await fetch(gateway.url + path);
      assert.equal(answer.status, 400, path);
      const { code, detail } = (await answer.json()) as { code: string; detail: string };
      assert.equal(code, 'invalid-parameter');
      assert.match(detail, /must be UTF-8/);
    }
  });

  test('a path may be escaped, and end with a slash', async () => {
    await using gateway = await open();
    for (const path of ['/api/g%61rden', '/api/garden/', '/api/rooms/first-breath/', '/api/?x']) {
      assert.equal((await fetch(gateway.url + path)).status, 200, path);
    }
  });

  test('OPTIONS is 204 for every path, and lists its methods', async () => {
    await using gateway = await open();
    const allowed = { '/api/seeds': 'GET, HEAD, POST, OPTIONS', '/api': 'GET, HEAD, OPTIONS' };
    for (const [path, allow] of Object.entries({ ...allowed, '/nowhere': 'OPTIONS' })) {
      const answer = await fetch(gateway.url + path, { method: 'OPTIONS' });
      assert.equal(answer.status, 204);
      assert.equal(answer.headers.get('allow'), allow);
    }
    const everything = 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n';
    assert.deepEqual(statusesIn(await gateway.sendRaw(everything, /\r\n\r\n/)), [204]);
  });

  test('a preflight allows the requested method and headers', async () => {
    await using gateway = await open();
    const headers = {
      Origin: 'http://localhost:3000',
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'idempotency-key,x-whatever',
    };
    const answer = await fetch(`${gateway.url}/api/seeds`, { method: 'OPTIONS', headers });
    assert.equal(answer.status, 204);
    assert.equal(answer.headers.get('access-control-allow-origin'), '*');
    assert.equal(answer.headers.get('access-control-allow-methods'), 'POST');
    const names = answer.headers.get('access-control-allow-headers');
    assert.equal(names, 'idempotency-key,x-whatever');
    assert.equal(answer.headers.get('access-control-allow-credentials'), null);
  });

  test('HEAD has the headers of GET, and no body', async () => {
    await using gateway = await open();
    await gateway.addEntries('one', 'two');
    const paths = ['/api', '/api/garden', '/api/garden?limit=1', '/api/rooms', '/api/discover'];
    for (const path of [...paths, '/mova-snu.yaml', '/mova-snu.schema.json', '/nowhere']) {
      const got = await fetch(gateway.url + path);
      const head = await fetch(gateway.url + path, { method: 'HEAD' });
      assert.equal(head.status, got.status);
      await got.arrayBuffer();
      assert.equal((await head.arrayBuffer()).byteLength, 0);
      const headersOf = ({ headers }: Response): unknown =>
        [...headers].filter(([name]) => name !== 'date' && name !== 'connection');
      assert.deepEqual(headersOf(head), headersOf(got), path);
    }
  });
});

suite('the state of the gateway', () => {
  test('before the log is open, status and probes are answered', async () => {
    await using gateway = await openGateway(openMemoryLog(), { starting: true });
    const statuses: Record<string, number> = {};
    for (const path of ['/', '/api', '/api/', '/healthz', '/readyz']) {
      const answer = await fetch(gateway.url + path);
      statuses[path] = answer.status;
      assert.match(await answer.text(), /waking/);
    }
    assert.deepEqual(statuses, {
      '/': 200,
      '/api': 200,
      '/api/': 200,
      '/healthz': 200,
      '/readyz': 503,
    });
  });

  test('what is requested before the log is open is answered once it is open', async () => {
    await using gateway = await openGateway(openMemoryLog(), { starting: true });
    const body = GARDEN_ENTRY;
    const early = Promise.all([
      fetch(`${gateway.url}/api/garden`, { method: 'POST', body }),
      fetch(`${gateway.url}/api/seeds`, { method: 'POST', body: `{"text":"${'x'.repeat(5e6)}"}` }),
      fetch(`${gateway.url}/api/say/garden?text=here&identity=Lumen&identityType=ai_entity`),
      fetch(`${gateway.url}/api/garden`),
      fetch(`${gateway.url}/nowhere`),
    ]);
    for (let count = 0; count < 20; count += 1) await fetch(`${gateway.url}/readyz`);
    gateway.open();
    const statuses = (await early).map(({ status }) => status);
    assert.deepEqual(statuses, [201, 201, 201, 200, 404]);
  });

  test('/readyz reports the same state as /api', async () => {
    let state: State = 'breathing';
    await using gateway = await openGateway(openMemoryLog(), { state: () => state });
    const expected = { breathing: 200, holding: 503, resting: 503 } as const;
    for (const [name, status] of Object.entries(expected)) {
      state = name as State;
      const ready = await fetch(`${gateway.url}/readyz`);
      assert.equal(ready.status, status);
      assert.deepEqual(await ready.json(), { status: name });
      assert.equal((await fetch(`${gateway.url}/healthz`)).status, 200);
      const document = (await (await fetch(`${gateway.url}/api`)).json()) as { status: string };
      assert.equal(document.status, name);
    }
  });

  test('shutdown finishes requests in progress and closes idle connections', async () => {
    const gateway = await open();
    await using idle = await gateway.connect();
    await using unused = await gateway.connect();
    await using busy = await gateway.connect();
    idle.send(getRequest('/healthz'));
    await idle.until(/breathing/);
    const head = `POST /api/garden HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${GARDEN_ENTRY.length}`;
    busy.send(`${head}\r\nExpect: 100-continue\r\n\r\n`);
    await busy.until(/^HTTP\/1.1 100 /);
    busy.send(GARDEN_ENTRY.slice(0, 10));
    const stopped = gateway[Symbol.asyncDispose]();
    await Promise.all([idle.untilClosed(), unused.untilClosed()]);
    await assert.rejects(fetch(`${gateway.url}/healthz`));
    busy.send(GARDEN_ENTRY.slice(10));
    assert.deepEqual(statusesIn(await busy.untilClosed()), [100, 201]);
    await stopped;
  });
});
