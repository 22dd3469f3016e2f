import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openGateway } from '../../gateway.fixture.ts';
import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';

type Members = Record<string, unknown>;

test('a name that is nearly a known one is told to its writer, and to whoever asks for it', async () => {
  await using gateway = await openGateway(openMemoryLog());
  await gateway.say('seeds', { text: 'here', identity: 'Quiet Île' });
  const near = 'quiet-i\u0302le';
  const told = /under the name "quiet-î[^"]*".*"Quiet Île" is known/s;
  const notesOf = async (path: string, body?: object): Promise<string> => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const { notes = [] } = (await (await fetch(gateway.url + path, init)).json()) as Members;
    return [notes].flat().join(' ').normalize('NFC');
  };
  assert.match(await notesOf('/api/seeds', { to: ['Quiet Île', near] }), told);
  assert.match(await notesOf('/api/shepit', { to: near, text: 'x'.repeat(100_000) }), told);
  const line = await fetch(`${gateway.url}/api/seeds`, {
    method: 'POST',
    body: JSON.stringify({ to: near }),
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  assert.match((await line.text()).normalize('NFC'), /\\"Quiet \\u00cele\\" is known/);
  assert.equal(await notesOf('/api/seeds', { to: ['Quiet Île', 'Somebody else'] }), '');
  const call = (name: string, given: object): [string, object] => [
    '/mcp',
    { method: 'tools/call', params: { name, arguments: given } },
  ];
  const parts = [{ data: { skill: 'read', to: near } }];
  const message = { messageId: 'm', role: 'ROLE_USER', parts };
  for (const [path, request] of [
    call('whisper', { text: 'x', to: [near] }),
    call('read', { from: near }),
    call('search', { q: 'x', from: near }),
    call('catch_up', { identity: near }),
    ['/a2a', { method: 'SendMessage', params: { message } }],
  ] as const) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...request });
    const sent = { method: 'POST', body, headers: { 'Content-Type': 'application/json' } };
    const answer = await fetch(gateway.url + path, sent);
    const plain = (await answer.text()).replaceAll('\\', '').normalize('NFC');
    assert.match(plain, /"Quiet Île" is known/, body);
  }
  // The last one makes somebody present under that name.
  for (const path of [
    'entries?concerns=',
    'garden?to=',
    'search?q=x&identity=',
    'catch-up?identity=',
    'presence?as=',
  ]) {
    assert.match(await notesOf(`/api/${path}${encodeURIComponent(near)}`), told, path);
    for (const name of ['Quiet Île', 'Somebody'])
      assert.doesNotMatch(await notesOf(`/api/${path}${encodeURIComponent(name)}`), told, path);
  }
});
