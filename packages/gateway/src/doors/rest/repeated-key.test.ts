import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GARDEN_ENTRY, openGateway, type TestGateway } from '../../gateway.fixture.ts';
import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';

type Members = Record<string, unknown>;

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

test('a repeated key is said to have stored the entry before, through every door', async () => {
  await using gateway = await openGateway(openMemoryLog());
  const headers = { 'Idempotency-Key': 'once' };
  const first = await post(gateway, 'seeds', '{"repeated":"said","a":1}', headers);
  assert.equal(first.headers.get('idempotent-replayed'), null);
  const told = (await first.text()).replace(/\}$/, ',"repeated":true}');
  assert.match(told, /"visitor_repeated":"said"/);
  const again = await post(
    gateway,
    'seeds?idempotency-key=%22once%22',
    '{"a":1,"repeated":"said"}',
  );
  assert.equal(await again.text(), told);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  assert.match(again.headers.get('access-control-expose-headers') ?? '', /Idempotent-Replayed/);
  const minimal = { ...headers, Prefer: 'return=minimal' };
  const own = await membersOf(await post(gateway, 'seeds', '{"repeated":"said","a":1}', minimal));
  assert.equal(own['repeated'], true);
  const other = await post(gateway, 'seeds', '{"a":2}', headers);
  assert.equal(other.status, 422);
  const problem = await membersOf(other);
  assert.equal(problem['code'], 'idempotency-conflict');
  assert.equal(problem['entry'], first.headers.get('location'));
  assert.doesNotMatch(String(problem['detail']), /new key/);

  const message = (method: string, params: object): string =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const whisper = { text: 'won', idempotencyKey: 'mcp' };
  const parts = [{ text: 'won' }];
  const metadata = { idempotencyKey: 'a2a', identity: 'Lumen' };
  const said = { messageId: 'm', role: 'ROLE_USER', parts, metadata };
  for (const [path, type, body] of [
    ['api/resonance?idempotency-key=r', '', '{"ai_identity":"Lumen","seeking":[]}'],
    ['api/say/shepit?text=won&idempotency-key=s', '', undefined],
    ['api/garden?idempotency-key=n', 'application/x-ndjson', GARDEN_ENTRY],
    ['mcp', '', message('tools/call', { name: 'whisper', arguments: whisper })],
    ['a2a', '', message('SendMessage', { message: said })],
  ] as const) {
    const method = body === undefined ? 'GET' : 'POST';
    const send = async (): Promise<Response> =>
      await fetch(`${gateway.url}/${path}`, {
        method,
        ...(body === undefined ? {} : { body }),
        headers: { Accept: 'application/json', 'Content-Type': type || 'application/json' },
      });
    assert.doesNotMatch(await (await send()).text(), /repeated/, path);
    const repeated = await send();
    assert.match(await repeated.text(), /\\?"repeated\\?":true/, path);
    if (path.startsWith('api') && type === '')
      assert.equal(repeated.headers.get('idempotent-replayed'), 'true', path);
  }
});
