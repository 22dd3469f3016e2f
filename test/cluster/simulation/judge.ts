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

/** What a gateway has in the end. */
interface Copy {
  readonly entries: readonly StoredEntry[];
  /** The ids of those that it remembers, sorted. */
  readonly publishers: readonly string[];
}

/** How often things happened in the stream. */
export type Coverage = Readonly<
  Record<'messages' | 'repeats' | 'voidMessages' | 'forgottenPublishers', number>
>;

const DAY_MS = 86_400_000;
/** Where these are in the bytes of a message. */
const PUBLISHER = [2, 18] as const;
const ORIGIN = [2, 24] as const;
const NUMBER = [18, 6] as const;
const SETTLED = [24, 6] as const;
const SENT = [30, 6] as const;
const TEXT = /"text":"(\w+)"/g;

export function judge(
  messages: readonly StoredMessage[],
  attempts: readonly Attempt[],
  copies: readonly Copy[],
): Coverage {
  const valid = messages.filter((message) => !isVoid(message));
  const expected = textsOf(valid);
  const keyed = new Set(attempts.filter(({ isKeyed }) => isKeyed).map(({ text }) => text));
  const entries = expected.filter(
    (text, index) => !keyed.has(text) || expected.indexOf(text) === index,
  );
  assert.equal(new Set(entries).size, entries.length, 'an entry is there twice');
  const { remembered, forgotten } = publishersOf(messages);
  for (const [index, copy] of copies.entries()) {
    const texts = copy.entries.map(({ text }) => [...text.matchAll(TEXT)][0]?.[1]);
    assert.deepEqual(texts, entries, `copy ${index} has other entries than the stream`);
    const links = copies[0]?.entries.map(({ link }) => link);
    assert.deepEqual(
      copy.entries.map(({ link }) => link),
      links,
      `copy ${index} has other links than copy 0`,
    );
    assert.deepEqual(copy.publishers, remembered, `copy ${index} remembers other publishers`);
  }
  const lost = new Set(textsOf(messages.filter(isVoid)));
  for (const { text, result } of attempts) {
    if (result === undefined) continue;
    if (result.outcome === 'unavailable' && lost.has(text)) continue;
    const isStored = result.outcome === 'appended' || result.outcome === 'repeated';
    assert.ok(isStored, `${text} is ${result.outcome}`);
    assert.equal(entries[result.seq - 1], text, `entry ${result.seq} was acknowledged`);
  }
  return {
    messages: messages.length,
    repeats: valid.length - new Set(valid.map(originOf)).size,
    voidMessages: messages.length - valid.length,
    forgottenPublishers: forgotten,
  };
}

/** Whether the stream took it more than a day before or after it was sent. */
function isVoid({ time, data }: StoredMessage): boolean {
  return Math.abs(time - Buffer.from(data).readUIntLE(...SENT)) > DAY_MS;
}

function originOf({ data }: StoredMessage): string {
  return Buffer.from(data).toString('hex', ...ORIGIN);
}

/** A publisher is forgotten at the first message more than three days behind its own last one that is not void. */
function publishersOf(messages: readonly StoredMessage[]): {
  readonly remembered: readonly string[];
  readonly forgotten: number;
} {
  const last = new Map<string, number>();
  let forgotten = 0;
  for (const message of messages) {
    if (isVoid(message)) continue;
    for (const [publisher, time] of last)
      if (message.time - time > 3 * DAY_MS && last.delete(publisher)) forgotten += 1;
    const publisher = Buffer.from(message.data).toString('hex', ...PUBLISHER);
    last.set(publisher, message.time);
  }
  return { remembered: [...last.keys()].toSorted(), forgotten };
}

/**
 * In the order of the stream: a message that comes again counts once, and not at all where its publisher
 * has said that it is settled, as one that was void before.
 */
function textsOf(messages: readonly StoredMessage[]): string[] {
  const seen = new Set<string>();
  const settled = new Map<string, number>();
  return messages.flatMap((message) => {
    const data = Buffer.from(message.data);
    const publisher = data.toString('hex', ...PUBLISHER);
    const before = settled.get(publisher) ?? 0;
    settled.set(publisher, Math.max(before, data.readUIntLE(...SETTLED)));
    const origin = originOf(message);
    if (data.readUIntLE(...NUMBER) <= before || seen.has(origin)) return [];
    seen.add(origin);
    return Array.from(data.toString('latin1').matchAll(TEXT), ([, text = '']) => text);
  });
}
