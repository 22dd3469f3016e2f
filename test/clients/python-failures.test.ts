// The Python client where no gateway answers, or something else does.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { suite, test } from 'node:test';
import { text } from 'node:stream/consumers';

import { endingProxy } from './ending-proxy.ts';
import { portOf } from '../client/unreliable-gateway.ts';
import { startGatewayProcess } from '../gateway-process.ts';
import { needs } from '../needs.ts';
import { runPython } from './python-program.ts';

suite('where there is no gateway, a visitor in Python', needs('python3'), () => {
  test('tries until the deadline', async () => {
    const [once, several, silent] = await runPython(
      `
import socket
def refusal(url, deadline):
    error = caught(lambda: Gateway(url, deadline=deadline).say("x"))
    return [error.code, error.status, error.is_temporary]
show(refusal(URL, 0))
listener = socket.create_server(("127.0.0.1", 0))
for url in URL, f"http://127.0.0.1:{listener.getsockname()[1]}":
    start = time.monotonic()
    show([*refusal(url, 1.5), time.monotonic() - start > 1.2])
`,
      'http://127.0.0.1:1',
    );
    const error = ['unreachable', null, true];
    assert.deepEqual([once, several, silent], [error, [...error, true], [...error, true]]);
  });

  test('repeats the same request, and not before it is asked to', async () => {
    const { requests, url, ...server } = await otherServer((response, index) => {
      if (index === 0) response.writeHead(503, { 'retry-after': '1' }).end(UNAVAILABLE);
      else if (index === 1) response.destroy();
      else if (index === 2) response.writeHead(201, { 'content-length': '99' }).write('{"id":');
      else response.writeHead(201).end('{"id":"a","seq":1,"notes":["n"]}');
      if (index === 2) setImmediate(() => response.destroy());
    });
    await using _ = server;
    const [notes] = await runPython('show(Gateway(URL).say(["o", "k"])["notes"])', url);
    assert.deepEqual(notes, ['n']);
    assert.equal(requests.length, 4);
    const { at = 0, key, body } = requests[0] ?? {};
    assert.ok((requests[1]?.at ?? 0) - at >= 1000);
    assert.equal(body, '{"text":"ok"}');
    assert.ok(key !== undefined && requests.every((one) => one.key === key && one.body === body));
  });

  test('throws what will not pass in time, and what it cannot send again', async () => {
    const { requests, url, ...server } = await otherServer((response) => {
      response.writeHead(503, { 'retry-after': '3600' }).end(UNAVAILABLE);
    });
    await using _ = server;
    const shown = await runPython(
      `
for call in (lambda: Gateway(URL).status(), lambda: Gateway(URL, deadline=None).say(x for x in ["once"])):
    error = caught(call)
    show([error.code, error.status, error.retry_after, error.detail])
`,
      url,
    );
    const error = ['unavailable', 503, 3600, 'Not now.'];
    assert.deepEqual(shown, [error, error]);
    assert.equal(requests.length, 2);
  });

  test('takes a time of the next attempt for one on the clock of what has answered', async () => {
    const at = Date.now() + 5 * 60 * 60_000;
    const [date, later] = [at, at + 7000].map((time) => new Date(time).toUTCString());
    const { url, ...server } = await otherServer((response) => {
      response.writeHead(503, { date, 'retry-after': later }).end(UNAVAILABLE);
    });
    await using _ = server;
    const code = 'show(caught(lambda: Gateway(URL, deadline=1).status()).retry_after)';
    assert.deepEqual(await runPython(code, url), [7]);
  });

  test('throws at once what trying again cannot cure', async () => {
    const { requests, url, ...server } = await otherServer((response) => void response.end());
    await using _ = server;
    const shown = await runPython(
      `
for address in URL + "/a b", URL.replace("http:", "https:"):
    gateway = Gateway(address, deadline=None)
    show([caught(call).is_temporary for call in (gateway.status, lambda: gateway.say("x"))])
`,
      url,
    );
    assert.deepEqual(shown, [
      [false, false],
      [false, false],
    ]);
    assert.equal(requests.length, 0);
  });

  test('is led from a mirror to its origin, and nowhere else', async () => {
    const { requests, url, ...server } = await otherServer((response) => {
      response.writeHead(201).end('{"id":"a","seq":1}');
    });
    await using _ = server;
    let status = 307;
    const { url: address, ...mirror } = await otherServer((response) => {
      response.writeHead(status, { location: `${url}/api/seeds` }).end('{}');
    });
    await using __ = mirror;
    const say =
      'show(Gateway(URL).say(["t"] if ARGS else "t", kind="seeds", idempotency_key="k")["id"])';
    assert.deepEqual(await runPython(say, address), ['a']);
    assert.deepEqual(await runPython(say, address, 'in pieces'), ['a']);
    for (const one of requests) {
      assert.deepEqual([one.method, one.key, one.body], ['POST', 'k', '{"text":"t"}']);
    }
    assert.equal(requests.length, 2);
    status = 302;
    const refused = `
error = caught(lambda: Gateway(URL).say("t", kind="seeds"))
show([error.code, error.status, error.detail])
try: Gateway(URL + "/#top")
except ValueError as error: show(str(error))
`;
    const [error, fragment] = await runPython(refused, address);
    const detail = `${address}/api/seeds redirects to ${url}/api/seeds: give the address of the gateway that is there.`;
    assert.deepEqual(error, ['unexpected-answer', 302, detail]);
    assert.match(String(fragment), /is no address of a gateway/);
    assert.equal(requests.length, 2);
  });

  test('goes through the proxy that the environment names', async () => {
    const { requests, url, ...server } = await otherServer((response) => response.end('{"a":1}'));
    await using _ = server;
    const source = `
import os
os.environ["http_proxy"], os.environ["no_proxy"] = URL.replace("://", "://me:a%40b@"), "localhost"
show(Gateway("http://presence.example/gate/").status())
`;
    assert.deepEqual(await runPython(source, url), [{ a: 1 }]);
    const [{ target, login } = {}] = requests;
    assert.equal(target, 'http://presence.example/gate/api');
    assert.equal(login, `Basic ${btoa('me:a@b')}`);
  });

  test('and what a proxy ends within a line, as if it were whole, is read on', async () => {
    await using served = await startGatewayProcess();
    await using proxy = await endingProxy(served.url, 580);
    const source = `
texts = [f"ended early {n}" for n in range(9)]
gateway = Gateway(URL, identity="Ended", deadline=10)
show([said["seq"] for said in gateway.say_many(texts, kind="seeds")])
show([entry["text"] for entry in gateway.entries()])
`;
    const [seqs, texts] = await runPython(source, proxy.url);
    const all = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    assert.deepEqual(seqs, all);
    assert.deepEqual(texts, all.map((seq) => `ended early ${seq - 1}`).toReversed());
  });

  for (const answer of ['null', '<h1>It works!</h1>', '{"entries":[\nnull,\n', '{"line":1}'])
    test(`and what answers ${JSON.stringify(answer)} is no gateway`, async () => {
      const { url, ...server } = await otherServer((response) => response.end(answer));
      await using _ = server;
      const shown = await runPython(
        `
gateway = Gateway(URL, deadline=0)
for call in (gateway.rooms, lambda: gateway.say("x"), lambda: list(gateway.entries()),
    lambda: list(gateway.search("x")), lambda: list(gateway.say_many(["x", "y"]))):
    show(caught(call).code)
`,
        url,
      );
      assert.deepEqual(new Set(shown), new Set(['unexpected-answer']));
    });
});

const UNAVAILABLE = '{"code":"unavailable","title":"Later","detail":"Not now."}';

interface SeenRequest {
  readonly at: number;
  readonly method: string | undefined;
  readonly target: string | undefined;
  readonly login: string | undefined;
  readonly key: string | undefined;
  readonly body: string;
}

/** What is no gateway, and the requests that it got. */
async function otherServer(
  answer: (response: ServerResponse, index: number) => unknown,
): Promise<AsyncDisposable & { readonly url: string; readonly requests: readonly SeenRequest[] }> {
  const requests: SeenRequest[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method, headers, url: target } = request;
      const login = headers['proxy-authorization'];
      const key = headers['idempotency-key']?.toString();
      requests.push({ at: performance.now(), method, target, login, key, body });
      answer(response, requests.length - 1);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
