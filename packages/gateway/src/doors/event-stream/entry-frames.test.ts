import assert from 'node:assert/strict';
import { test } from 'node:test';

import { entryHead, entryId, type Kind, type EntryMetadata } from '@open-presence/protocol';

import type { LogRange } from '../../feed/follow.ts';
import { streamChunk, type StreamChunk } from '../../http/response/event-stream.ts';
import { cut, randomOf } from '../../log/log.fixture.ts';
import type { Log, ReadEnd } from '../../log/log.ts';
import { openMemoryLog } from '../../../../../test/support/memory-log/memory-log.ts';
import { frameEntries } from './entry-frames.ts';

const RANGE: LogRange = { facets: [], order: 'oldest', after: 0, before: 1000 };

const SIZE = 8 * 1024;

interface TestEntry {
  readonly metadata: EntryMetadata;
  readonly text: string;
}

function entryOf(seq: number, kind: Kind, size: number): TestEntry {
  const time = 1_795_000_000_000 + seq;
  const metadata = { id: entryId(time, seq, 7), seq, kind, room: 'shepit-wall', time };
  return { metadata, text: `${entryHead(metadata)},"text":"${'щ'.repeat(size)}"}` };
}

function frameOf({ metadata: { seq, kind }, text }: TestEntry): string {
  return `id: ${seq}\nevent: ${kind}\ndata: ${text}\n\n`;
}

/** A log whose readings come in these pieces, through one buffer. */
function logOf(pieces: Iterable<Uint8Array>): Log {
  return Object.assign(openMemoryLog(), {
    async *readText(): AsyncGenerator<Uint8Array, ReadEnd, undefined> {
      const buffer = Buffer.alloc(1 << 20);
      for (const piece of pieces) {
        buffer.set(piece);
        yield buffer.subarray(0, piece.length);
        buffer.fill(0x21, 0, piece.length);
      }
      return { last: undefined, more: false };
    },
  });
}

function dataOf({ chunk, payloadStart: from }: StreamChunk): Buffer {
  const data = chunk.subarray(from, -2);
  assert.equal(chunk.toString('latin1', 0, from), `${data.length.toString(16)}\r\n`);
  assert.equal(chunk.toString('latin1', chunk.length - 2), '\r\n');
  return data;
}

test('entries are framed alike, in whichever pieces they come', async () => {
  const random = randomOf(3);
  const sizes = [0, 1, 8100, 8170, 20, 40_000, 3, 100, 8192, 16_384, 5, 5, 5, 300_000, 0];
  const entries = sizes.map((size, at) =>
    entryOf(9 + at * 7, at % 2 === 0 ? 'seeds' : 'garden', size),
  );
  const joined = Buffer.from(entries.map(({ text }) => text).join('\n'));
  const expected = entries.map(frameOf).join('');
  for (const longest of [1, 2, 127, 128, 129, 1000, 16_384, 100_000, 1_000_000]) {
    const pieces = longest < 100 ? cut(joined.subarray(0, 20_000), longest, random) : undefined;
    const slices = await Array.fromAsync(
      frameEntries(logOf(pieces ?? cut(joined, longest, random)), RANGE, SIZE),
    );
    const text = Buffer.concat(slices.map(dataOf)).toString();
    if (pieces === undefined) assert.equal(text, expected);
    else assert.ok(expected.startsWith(text.slice(0, 9000)));
    assert.ok(slices.every((slice) => dataOf(slice).length <= 8 * 1024));
  }
});

test('a slice tells the entry that it ends with, so that a stream can go on from there', async () => {
  const entries = Array.from({ length: 400 }, (_, at) =>
    entryOf(at + 1, 'shepit', (at * 37) % 300),
  );
  const joined = Buffer.from(entries.map(({ text }) => text).join('\n'));
  let sofar = '';
  for await (const slice of frameEntries(logOf([joined]), RANGE, SIZE)) {
    sofar += dataOf(slice).toString();
    assert.equal(sofar, entries.slice(0, slice.cursor).map(frameOf).join(''));
  }
  assert.equal(sofar, entries.map(frameOf).join(''));
});

test('a slice holds memory of its own', () => {
  const { chunk } = streamChunk(Buffer.from(':\n\n'));
  assert.equal(chunk.buffer.byteLength, chunk.length);
});
