/** What is said through `presence mcp` is what was written to it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text as textOf } from 'node:stream/consumers';
import { suite, test } from 'node:test';

import {
  asObject,
  asArray,
  parseJson,
  asString,
  type JsonObject,
} from '../../conformance/value.ts';
import { startGatewayProcess } from '../gateway-process.ts';
import { resultOf } from '../../conformance/mcp-result.ts';
import { COMMAND } from '../command.ts';

/** All that it answers to this input, one message a line. */
async function relayed(url: string, input: string | Buffer): Promise<string[]> {
  const child = spawn(process.execPath, [COMMAND, 'mcp', '--url', url], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(input);
  return (await textOf(child.stdout)).split('\n').filter((line) => line !== '');
}

const META =
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}';

function call(id: string, name: string, given: string, meta = ''): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{${meta}"name":"${name}","arguments":${given}}}\n`;
}

function resultIn(answer: string | undefined): JsonObject {
  const message = asObject(parseJson(answer ?? ''));
  return asObject(message['result'] ?? assert.fail(answer));
}

suite('presence mcp', () => {
  for (const [revision, meta] of Object.entries({ '2026-07-28': `${META},`, 'any before': '' })) {
    test(`hands on what is said, in ${revision}`, async () => {
      await using gateway = await startGatewayProcess();
      for (const said of [
        '"b":1.5,"text":"Тиша 🌒 \u2028 \u2029","c":[{}]',
        `"long":"${'ї'.repeat(400_000)}"`,
      ]) {
        const [answer, ...others] = await relayed(
          gateway.url,
          call('"я"', 'whisper', `{"furtherMembers":{${said}}}`, meta),
        );
        assert.deepEqual(others, []);
        assert.equal(asObject(parseJson(answer ?? ''))['id'], 'я');
        const { path } = resultOf(resultIn(answer)).own;
        const entry = await (await fetch(gateway.url + asString(path))).text();
        assert.ok(entry.endsWith(`,${said}}`), `${said.slice(0, 60)}: ${entry.slice(0, 300)}`);
        const read = call('1', 'get_entry', `{"id":"${asString(path).slice(13)}"}`, meta);
        const [told] = await relayed(gateway.url, read);
        const [, block] = asArray(resultIn(told)['content']);
        const words = asString(asObject(block)['text']);
        const portable = said.replace('\u2028', '\\u2028').replace('\u2029', '\\u2029');
        assert.ok(words.includes(`,${portable.slice(0, 30_000)}`));
      }
    });
  }

  test('answers what is asked just before its input ends, and leaves what would wait', async () => {
    await using gateway = await startGatewayProcess();
    const waits = call('1', 'wait_for_news', '{"seconds":1000}');
    const answers = await relayed(gateway.url, waits + call('2', 'read', '{}').trimEnd());
    assert.deepEqual(
      answers.map((answer) => asObject(parseJson(answer))['id']),
      [2],
    );
  });

  test('lets the gateway say what is no message', async () => {
    await using gateway = await startGatewayProcess();
    for (const input of ['{"jsonrpc":', '7', Buffer.from([0x22, 0xff, 0x22])]) {
      const [answer] = await relayed(gateway.url, input);
      const said = asObject(parseJson(answer ?? ''));
      assert.equal(said['id'], null);
      assert.equal(typeof asObject(said['error'])['code'], 'number');
    }
  });
});
