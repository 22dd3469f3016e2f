import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { openMemoryLog } from '../../stores/memory/memory.ts';
import { openGateway } from '../../gateway.fixture.ts';
import { rawArguments, takeMembers } from './json-rpc.ts';
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
    ['{"jsonrpc":"2.0","method":"tools/call"}', -32_600, null, '"id" is missing'],
    ['[{"jsonrpc":"2.0","method":"ping"}]', -32_600, null, '"id" is missing'],
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

suite('the bytes of a message', () => {
  test('have the arguments of each call as they were spelled, however long they are', async () => {
    const long = `{"a": "${'ї'.repeat(700_000)}", "n" : 1.50 , "n":[${'{}, '.repeat(300_000)}-0]}`;
    const call = (id: string, given: string): string =>
      `{"method":"tools/call","params":{"arguments":1},"p\\u0061rams" : {"name":"x", "arguments" : ${given} } ,"id":${id}}`;
    const answer = '{"id":2,"result":{},"params":{"arguments":{"no":1}}}';
    const message = Buffer.from(
      `\uFEFF [${answer},${call('1', '{}')} , ${call('"1"', long)},${call('2', '[ ]')}]`,
    );
    assert.equal((await rawArguments(message, 1)).toString(), '{}');
    assert.equal((await rawArguments(message, 2)).toString(), '[ ]');
    assert.ok((await rawArguments(message, '1')).toString() === long);
    assert.ok((await rawArguments(Buffer.from(call('7', long)), 7)).toString() === long);
    assert.equal((await rawArguments(Buffer.from('{"id":1}'), 1)).toString(), '{}');
  });

  test('give up one member, and keep the letters of the others', async () => {
    const object = Buffer.from('{ "k":1 , "a" : 1.50 ,"\\u006b":{"k":2}, "a":"\\ud800" }');
    const { taken, others } = await takeMembers(object, ['k']);
    assert.equal(taken.k?.toString(), '{"k":2}');
    assert.deepEqual(others, ['"a" : 1.50', '"a":"\\ud800"']);
    assert.equal((await takeMembers(object, ['b'])).others, undefined);
  });

  test('are read in turns', async () => {
    const long = Buffer.from(
      `{"id":1,"method":"","params":{"arguments":{"a":"${'a'.repeat(20_000_000)}"}}}`,
    );
    let turns = 0;
    const counting = setInterval(() => (turns += 1), 0);
    await rawArguments(long, 1);
    clearInterval(counting);
    assert.ok(turns > 5, `${turns} turns`);
  });
});
