import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openMemoryLog } from '../../stores/memory/memory.ts';
import { openGateway } from '../../gateway.fixture.ts';
import { answerIn, fields, send } from './mcp.fixture.ts';

test('who sends no message is told what it lacks', async () => {
  await using door = await openGateway(openMemoryLog());
  for (const [message, code, id, wanted] of [
    ['', -32_700, null, 'JSON in UTF-8'],
    ['{', -32_700, null, 'JSON in UTF-8'],
    [Buffer.from([0x22, 0xff, 0x22]), -32_700, null, 'JSON in UTF-8'],
    ['null', -32_600, null, 'it must be an object, got null'],
    ['[]', -32_600, null, 'an empty array'],
    ['[1]', -32_600, null, 'it must be an object, got 1'],
    ['{"id":7,"method":"ping"}', -32_600, 7, '"jsonrpc" must be "2.0", got nothing'],
    ['{"jsonrpc":"2.0","id":"a"}', -32_600, 'a', '"method" must be a string'],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32_600, null, '"id" must be .*, got 1.5'],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32_600, null, '"id" must be .*, got null'],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32_600, 1, '"params" must be'],
    ['{"jsonrpc":"2.0","id":1e17,"method":"ping"}', -32_600, null, '"id" must be'],
  ] as const) {
    const { status, text } = await send(door, message);
    assert.equal(status, 400, `${String(message)} ${text}`);
    const answered = answerIn(text);
    assert.equal(answered['id'], id);
    assert.equal(fields(answered['error'])['code'], code);
    assert.match(String(fields(answered['error'])['message']), new RegExp(wanted));
  }
  for (const one of ['"method":"notifications/initialized"', '"id":1,"result":{}']) {
    assert.deepEqual(await send(door, `{"jsonrpc":"2.0",${one}}`), { status: 202, text: '' });
  }
  assert.deepEqual(door.reported, []);
});
