import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { array, assert as holds, asyncProperty, nat, string } from 'fast-check';

import { parseEvents, splitLines, withoutBreaks } from './framing.ts';
import type { MessageText } from './message-text.ts';

/** The bytes, cut into pieces of these lengths. */
async function* cut(bytes: Buffer, lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const length of lengths) {
    yield bytes.subarray(from, from + length);
    from += length;
  }
  yield bytes.subarray(from);
}

async function textsOf(messages: AsyncIterable<MessageText>): Promise<string[]> {
  const texts: string[] = [];
  for await (const message of messages) {
    await using text = message;
    texts.push(Buffer.concat(await Array.fromAsync(text.chunks())).toString());
  }
  return texts;
}

const lines = array(string({ unit: 'binary' }).map((text) => text.replaceAll(/[\r\n]/g, '')));
const lengths = array(nat({ max: 5 }));

suite('messages in byte streams', () => {
  for (const end of ['\n', '\r\n']) {
    test(`are the lines, wherever the stream is cut (${JSON.stringify(end)})`, async () => {
      const property = asyncProperty(lines, lengths, async (texts, lengths) => {
        const bytes = Buffer.from(texts.map((text) => text + end).join(''));
        assert.deepEqual(await textsOf(splitLines(cut(bytes, lengths))), texts);
      });
      await holds(property);
    });

    test(`are the data of server-sent events, wherever the stream is cut (${JSON.stringify(end)})`, async () => {
      const property = asyncProperty(lines, lengths, async (texts, lengths) => {
        const events = texts.map((text) => `: awake${end}event: message${end}data: ${text}${end}`);
        const bytes = Buffer.from(events.map((event) => event + end).join(''));
        assert.deepEqual(await textsOf(parseEvents(cut(bytes, lengths))), texts);
      });
      await holds(property);
    });
  }

  test('include a last line without a line ending, but not an unfinished event', async () => {
    assert.deepEqual(await textsOf(splitLines(cut(Buffer.from('a\nb'), []))), ['a', 'b']);
    assert.deepEqual(await textsOf(parseEvents(cut(Buffer.from('data: a\n'), []))), []);
  });

  test('may span several data lines, and are put on a single line', async () => {
    const bytes = Buffer.from('data: {"a":\r\ndata:1}\n\n');
    const [message = ''] = await textsOf(parseEvents(cut(bytes, [])));
    assert.equal(message, '{"a":\n1}');
    assert.equal(Buffer.from(withoutBreaks(Buffer.from(message))).toString(), '{"a": 1}');
  });
});
