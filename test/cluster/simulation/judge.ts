/**
 * What must be so in the end, told from the messages of the stream and the results that clients got,
 * by nothing that the gateways themselves use.
 */
import assert from 'node:assert/strict';

import type { WriteResult } from '../../../packages/gateway/src/stores/sqlite/log/batch.ts';
import type { StoredEntry } from './simulated-gateway.ts';
import type { StoredMessage } from './simulated-stream.ts';

/** What a client sent to a gateway, perhaps again. */
export interface Attempt {
  /** In no other draft. */
  readonly text: string;
  /** Whether it has an idempotency key: then it may be sent again. */
  readonly isKeyed: boolean;
  readonly gateway: number;
  /** Undefined as long as the client does not know what became of it. */
  result: WriteResult | undefined;
}

/** Publisher and number of a message, in its bytes. */
const ORIGIN = [2, 24] as const;
const TEXT = /"text":"(\w+)"/g;

export function judge(
  messages: readonly StoredMessage[],
  attempts: readonly Attempt[],
  copies: readonly (readonly StoredEntry[])[],
): void {
  const expected = textsOf(messages);
  const keyed = new Set(attempts.filter(({ isKeyed }) => isKeyed).map(({ text }) => text));
  const entries = expected.filter(
    (text, index) => !keyed.has(text) || expected.indexOf(text) === index,
  );
  assert.equal(new Set(entries).size, entries.length, 'an entry is there twice');
  for (const [index, copy] of copies.entries()) {
    const texts = copy.map(({ text }) => [...text.matchAll(TEXT)][0]?.[1]);
    assert.deepEqual(texts, entries, `copy ${index} has other entries than the stream`);
    const links = copies[0]?.map(({ link }) => link);
    assert.deepEqual(
      copy.map(({ link }) => link),
      links,
      `copy ${index} has other links than copy 0`,
    );
  }
  for (const { text, result } of attempts) {
    if (result === undefined) continue;
    const isStored = result.outcome === 'appended' || result.outcome === 'repeated';
    assert.ok(isStored, `${text} is ${result.outcome}`);
    assert.equal(entries[result.seq - 1], text, `entry ${result.seq} was acknowledged`);
  }
}

/** In the order of the stream: a message that comes again counts once. */
function textsOf(messages: readonly StoredMessage[]): string[] {
  const seen = new Set<string>();
  return messages.flatMap(({ data }) => {
    const bytes = Buffer.from(data);
    const origin = bytes.toString('hex', ...ORIGIN);
    if (seen.has(origin)) return [];
    seen.add(origin);
    return Array.from(bytes.toString('latin1').matchAll(TEXT), ([, text = '']) => text);
  });
}
