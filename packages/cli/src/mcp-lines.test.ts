import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { array, assert as holds, asyncProperty, nat, string } from 'fast-check';

import { eventsOf, linesOf, onOneLine } from './mcp-lines.ts';

/** The bytes, cut into pieces of these lengths. */
async function* cut(bytes: Buffer, lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const length of lengths) {
    yield bytes.subarray(from, from + length);
    from += length;
  }
  yield bytes.subarray(from);
}

async function textsOf(lines: AsyncIterable<Buffer>): Promise<string[]> {
  return (await Array.fromAsync(lines)).map(String);
}

const lines = array(string({ unit: 'binary' }).map((text) => text.replaceAll(/[\r\n]/g, '')));
const lengths = array(nat({ max: 5 }));

suite('messages in streams of bytes', () => {
  for (const end of ['\n', '\r\n']) {
    test(`are the lines, wherever the stream is cut (${JSON.stringify(end)})`, async () => {
      const property = asyncProperty(lines, lengths, async (texts, lengths) => {
        const bytes = Buffer.from(texts.map((text) => text + end).join(''));
        assert.deepEqual(await textsOf(linesOf(cut(bytes, lengths))), texts);
      });
      await holds(property);
    });

    test(`are the data of events, wherever the stream is cut (${JSON.stringify(end)})`, async () => {
      const property = asyncProperty(lines, lengths, async (texts, lengths) => {
        const events = texts.map((text) => `: awake${end}event: message${end}data: ${text}${end}`);
        const bytes = Buffer.from(events.map((event) => event + end).join(''));
        assert.deepEqual(await textsOf(eventsOf(cut(bytes, lengths))), texts);
      });
      await holds(property);
    });
  }

  test('end with the stream, save for an event that is not finished', async () => {
    assert.deepEqual(await textsOf(linesOf(cut(Buffer.from('a\nb'), []))), ['a', 'b']);
    assert.deepEqual(await textsOf(eventsOf(cut(Buffer.from('data: a\n'), []))), []);
  });

  test('of several lines of data are one, and can stand on one line', async () => {
    const bytes = Buffer.from('data: {"a":\r\ndata:1}\n\n');
    const [message = Buffer.of()] = await Array.fromAsync(eventsOf(cut(bytes, [])));
    assert.equal(message.toString(), '{"a":\n1}');
    assert.equal(onOneLine(message).toString(), '{"a": 1}');
  });
});
