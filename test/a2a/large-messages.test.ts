/** Messages longer than memory should hold: each part is stored as a short one is. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { asArray, asObject, asString, type JsonObject } from '../../conformance/value.ts';
import { residentOf } from '../live/resident.ts';
import { sharedGateway } from '../shared.ts';
import { objectAt, textAt } from '../requests.ts';

const MEGABYTE = 1024 * 1024;

suite('an A2A message of any size', () => {
  const gateway = sharedGateway();

  async function post(path: string, body: string | ReadableStream): Promise<JsonObject> {
    const init = { method: 'POST', body, duplex: 'half' } as const;
    return asObject(await (await fetch(gateway.url + path, init)).json());
  }

  /** The message in the answer of either binding, in either version. */
  function partsIn(answer: JsonObject): JsonObject[] {
    const result = asObject(answer['result'] ?? answer);
    const message = asObject(result['message'] ?? result);
    return asArray(message['parts'] ?? assert.fail(JSON.stringify(answer))).map(asObject);
  }

  async function storedBodies(answer: JsonObject): Promise<string[]> {
    const own = partsIn(answer).map(({ data }) => asObject(data ?? {}));
    const paths = own.flatMap(({ id, path }) => (id === undefined ? [] : [asString(path)]));
    return await Promise.all(
      paths.map(async (path) =>
        (await textAt(gateway.url + path)).replace(/^.*?"timestamp":"[^"]*",/, ''),
      ),
    );
  }

  /** The same message with and without more than a small one can have. */
  const requests = (message: string): readonly (readonly [path: string, body: string])[] => [
    ['/a2a/v1/message:send', `{"message":${message}}`],
    ['/a2a', `{"params":{"message":${message}},"id":1,"method":"SendMessage","jsonrpc":"2.0"}`],
    [
      '/a2a',
      `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":${message.replace('ROLE_USER', 'user')}}}`,
    ],
  ];

  test('stores its parts as they were spelled, by every binding', async () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const long = `{"skill":"plant-seed", "text" : "${'ї\\ud800'.repeat(9000)}","n":1.50,"n":1e400,"deep":${deep} }`;
    const small = '{"skill":"seeds","n":2.0}';
    const text = `${'\\u0422иша \\ud83c\\udf12 \\/ \\u000a'.repeat(20_000)} \\ud83c`;
    const message = `{"messageId":"m","role":"ROLE_USER","kind":"message","parts":[{"kind":"data","data":${long}},{"kind":"text","text":"${text}"},{"data":${small},"kind":"data"},{"kind":"text","text":"end"}]}`;
    const plain: unknown = JSON.parse(`"${text}"`);
    for (const [path, body] of requests(message)) {
      const wanted = [
        `"text":${JSON.stringify(`${String(plain)}\n\nend`)}}`,
        `${long.slice(1, -2)}}`,
        `${small.slice(1, -1)}}`,
      ];
      // Not deepEqual, which would print all of it.
      assert.ok(
        JSON.stringify(await storedBodies(await post(path, body))) === JSON.stringify(wanted),
      );
    }
  });

  test('takes data in a text for data, and a long question for a question', async () => {
    const more = 'x'.repeat(60_000);
    const data = JSON.stringify({ skill: 'seeds', text: 'a seed in a text', more });
    const read = { skill: 'read', limit: 1, more };
    const say = (part: object): Promise<JsonObject> =>
      post(
        '/a2a/v1/message:send',
        JSON.stringify({
          message: { messageId: 'm', role: 'ROLE_USER', parts: [part], metadata: { more } },
        }),
      );
    assert.ok((await storedBodies(await say({ text: data })))[0] === data.slice(1));
    for (const part of [{ data: read }, { text: JSON.stringify(read) }]) {
      const answer = JSON.stringify(partsIn(await say(part)));
      assert.match(answer, /"next":.*a seed in a text/);
    }
  });

  test('that asks to read may take up to a megabyte', async () => {
    const read = JSON.stringify({ skill: 'read', limit: 1, more: 'x'.repeat(2 * MEGABYTE) });
    const message = `{"messageId":"m","role":"ROLE_USER","kind":"message","parts":[{"kind":"data","data":${read}}]}`;
    for (const [path, body] of requests(message)) {
      const { code, message: detail } = asObject((await post(path, body))['error']);
      assert.equal(code, path === '/a2a' ? -32_600 : 400);
      assert.match(asString(detail), /what asks to read may take up to 1048576 bytes/);
    }
  });

  test('stores nothing if one of its many parts cannot be stored', async () => {
    const head = async (): Promise<unknown> => (await objectAt(`${gateway.url}/api`))['entries'];
    const atFirst = await head();
    const parts = Array.from({ length: 400 }, (_, at) => ({
      data: { skill: 'plant-seed', to: at === 399 ? [1] : 'x'.repeat(1000) },
    }));
    const message = { messageId: 'm', role: 'ROLE_USER', parts };
    const { error } = await post('/a2a/v1/message:send', JSON.stringify({ message }));
    assert.match(JSON.stringify(error), /"to\\+" must be a string/);
    assert.equal(await head(), atFirst);
  });

  test('that has more than a megabyte beside its contents is told so, with its id', async () => {
    const long = 'x'.repeat(2 * MEGABYTE);
    const params = `{"metadata":{"to":"${long}"},"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}`;
    const rest = asObject((await post('/a2a/v1/message:send', params))['error']);
    assert.equal(rest['code'], 400);
    assert.match(asString(rest['message']), /more than 1048576 bytes/);
    const call = `{"jsonrpc":"2.0","method":"SendMessage","params":${params},"id":7}`;
    const { id, error } = await post('/a2a', call);
    assert.equal(id, 7);
    assert.equal(asObject(error)['code'], -32_600);
    const file = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"raw":"${'aGk='.repeat(MEGABYTE)}"}]}}`;
    const refused = JSON.stringify(await post('/a2a/v1/message:send', file));
    assert.match(refused, /CONTENT_TYPE_NOT_SUPPORTED/);
  });

  test('takes no memory for its length', async () => {
    async function* chunks(): AsyncGenerator<Buffer> {
      yield Buffer.from(
        '{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"kind":"shepit","a":[0',
      );
      const values = Buffer.from(',{}'.repeat(200_000));
      for (let count = 0; count < 2; count += 1) yield values;
      yield Buffer.from(']}},{"text":"');
      const text = Buffer.alloc(MEGABYTE, 'x');
      for (let count = 0; count < 64; count += 1) yield text;
      yield Buffer.from('"}]}}');
    }
    const atFirst = await residentOf(gateway.pid);
    const answer = await post('/a2a/v1/message:send', ReadableStream.from(chunks()));
    const sizes = partsIn(answer).flatMap(({ data }) => {
      const entry = asObject(asObject(data ?? {})['entry'] ?? {});
      return entry['size'] === undefined ? [] : [Number(entry['size'])];
    });
    assert.ok((sizes[0] ?? 0) > 64 * MEGABYTE, String(sizes));
    const grown = (await residentOf(gateway.pid)) - atFirst;
    assert.ok(grown < 200 * MEGABYTE, `${grown} bytes`);
  });
});
