import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { argumentsIn, taken } from './message.ts';

suite('the bytes of a message', () => {
  test('have the arguments of each call as they were spelled, however long they are', async () => {
    const long = `{"a": "${'ї'.repeat(700_000)}", "n" : 1.50 , "n":[${'{}, '.repeat(300_000)}-0]}`;
    const call = (id: string, given: string): string =>
      `{"method":"tools/call","params":{"arguments":1},"p\\u0061rams" : {"name":"x", "arguments" : ${given} } ,"id":${id}}`;
    const answer = '{"id":2,"result":{},"params":{"arguments":{"no":1}}}';
    const message = Buffer.from(
      `\uFEFF [${answer},${call('1', '{}')} , ${call('"1"', long)},${call('2', '[ ]')}]`,
    );
    assert.equal((await argumentsIn(message, 1)).toString(), '{}');
    assert.equal((await argumentsIn(message, 2)).toString(), '[ ]');
    assert.ok((await argumentsIn(message, '1')).toString() === long);
    assert.ok((await argumentsIn(Buffer.from(call('7', long)), 7)).toString() === long);
    assert.equal((await argumentsIn(Buffer.from('{"id":1}'), 1)).toString(), '{}');
  });

  test('give up one member, and keep the letters of the others', async () => {
    const object = Buffer.from('{ "k":1 , "a" : 1.50 ,"\\u006b":{"k":2}, "a":"\\ud800" }');
    const { value, rest } = await taken(object, 'k');
    assert.deepEqual(value, { k: 2 });
    assert.equal(rest.toString(), '{"a" : 1.50,"a":"\\ud800"}');
    assert.equal((await taken(object, 'b')).rest, object);
  });

  test('are read in turns', async () => {
    const long = Buffer.from(
      `{"id":1,"method":"","params":{"arguments":{"a":"${'a'.repeat(20_000_000)}"}}}`,
    );
    let turns = 0;
    const counting = setInterval(() => (turns += 1), 0);
    await argumentsIn(long, 1);
    clearInterval(counting);
    assert.ok(turns > 5, `${turns} turns`);
  });
});
