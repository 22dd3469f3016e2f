/** Messages about as long as one can be, and longer: none of them ends the gateway. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';

import { asObject, parseJson } from '../../conformance/value.ts';
import { startGatewayProcess, type GatewayProcess } from '../gateway-process.ts';

const LONGEST = 2 ** 28 - 64 * 1024;

/** A message that is so long, by what stands between these. */
function longAs(size: number, before: string, behind: string, what = 'x'): Buffer {
  const words = Buffer.alloc(size - before.length - behind.length, what);
  return Buffer.concat([Buffer.from(before), words, Buffer.from(behind)]);
}

const PING = ['{"jsonrpc":"2.0","method":"ping","id":"', '"}'] as const;
const READ = [
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"order":"oldest","identity":"',
  '"}}}',
] as const;
const VISIT = [
  '{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"first_visit","arguments":{"ai_identity":"',
  '"}}}',
] as const;

suite('a message', () => {
  let gateway: GatewayProcess;
  before(async () => {
    gateway = await startGatewayProcess();
  });
  after(() => gateway[Symbol.asyncDispose]());

  for (const [name, ends, what] of [
    ['an id', PING, 'x'],
    ['an argument that is repeated', READ, 'x'],
    ['an argument of many quotes', READ, '\\"'],
    ['an argument of a prompt', VISIT, 'x'],
  ] as const) {
    test(`as long as one can be is answered: ${name}`, async () => {
      const [before, behind] = ends;
      const around = before.length + behind.length;
      // As many quotes as slashes.
      const body = longAs(LONGEST - ((LONGEST - around) % 2), before, behind, what);
      const answer = await fetch(`${gateway.url}/mcp`, { method: 'POST', body });
      assert.equal(answer.status, 200);
      assert.ok((await answer.arrayBuffer()).byteLength > 0);
      assert.equal((await fetch(`${gateway.url}/api`)).status, 200);
    });
  }

  test('that is longer, or has too many values, is told where to go', async () => {
    const told = async (body: Buffer): Promise<string> => {
      const answer = await fetch(`${gateway.url}/mcp`, { method: 'POST', body });
      assert.equal(answer.status, 400);
      return String(asObject(asObject(parseJson(await answer.text()))['error'])['message']);
    };
    assert.match(
      await told(longAs(LONGEST + 1, PING[0], PING[1])),
      /more than \d+ bytes.* POST \/api/,
    );
    const many = longAs(LONGEST, '{"a":[1', ']}', ',1');
    assert.match(await told(many), /more than \d+ values.* POST \/api/);
  });

  test('of very many values is read, and so are several at once', async () => {
    const values = ',{}'.repeat(950_000);
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whisper","arguments":{"a":[0${values}]}}}`;
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const answer = await fetch(`${gateway.url}/mcp`, { method: 'POST', body });
        return await answer.text();
      }),
    );
    for (const answer of answers) assert.match(answer, /Stored durably/);
  });
});
