/**
 * What must be so in the end, told from the messages of the stream and the results that clients got,
 * by nothing that the gateways themselves use.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';

import type { WriteResult } from '../../../packages/gateway/src/log/packed-drafts.ts';
import type { StoredEntry } from './simulated-gateway.ts';
import type { StoredMessage } from './simulated-stream.ts';

/** What a client sent to a gateway, perhaps again. */
export interface Attempt {
  /** In no other draft. */
  readonly text: string;
  /** Whether it has an idempotency key: then it may be sent again. */
  readonly isKeyed: boolean;
  /** Whether its body travels in chunks. */
  readonly isLarge: boolean;
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

interface Outcome {
  readonly messages: readonly StoredMessage[];
  readonly attempts: readonly Attempt[];
  /** The seqs that clients know to be withheld. */
  readonly withheld: readonly number[];
  readonly copies: readonly Copy[];
}

/** How often things happened in the stream. */
export type Coverage = Readonly<
  Record<
    | 'messages'
    | 'repeats'
    | 'voidMessages'
    | 'forgottenPublishers'
    | 'largeEntries'
    | 'lostUploads'
    | 'withheldEntries'
    | 'erasedMessages',
    number
  >
>;

const DAY_MS = 86_400_000;
/** The kinds of messages. */
const [DRAFTS, CHUNK, REPLACEMENT, CASES] = [0, 1, 3, 5];
/** In hex digits: begins the ids of all publishers of a gateway. */
const GATEWAY_SIZE = 16;

/** What is needed of a message. */
interface ReadMessage {
  readonly kind: number | undefined;
  /** When the stream took it. */
  readonly time: number;
  readonly publisher: string;
  readonly gateway: string;
  /** The same for a message that comes again. */
  readonly origin: string;
  readonly number: number;
  readonly settled: number;
  /** Whether the stream took it more than a day before or after it was sent. */
  readonly isVoid: boolean;
  readonly payload: Buffer;
}

interface Upload {
  readonly publisher: string;
  /** Whether no draft gets it any more. */
  isGivenUp: boolean;
  /** When its publisher was heard last. */
  last: number;
  readonly chunks: Map<number, Buffer>;
}

/** An entry that there must be. */
interface ExpectedEntry {
  readonly text: string;
  /** SHA-256 of a large body. */
  readonly digest: string | undefined;
}

export function judge({ messages, attempts, withheld, copies }: Outcome): Coverage {
  const read = messages.map(readMessage).filter(({ kind }) => kind !== REPLACEMENT);
  const keyed = new Set(attempts.filter(({ isKeyed }) => isKeyed).map(({ text }) => text));
  const expected = expectedOf(read, keyed);
  const { entries } = expected;
  const texts = entries.map(({ text }) => text);
  assert.equal(new Set(texts).size, texts.length, 'an entry is there twice');
  const { remembered, forgotten } = publishersOf(read);
  for (const [index, copy] of copies.entries()) {
    assert.deepEqual(
      copy.entries.map((entry) => summaryOf(entry)),
      entries.map(({ text, digest }, at) =>
        expected.withheld.has(at + 1) ? WITHHELD : `${text} ${digest}`,
      ),
      `copy ${index} has other entries than the stream`,
    );
    const links = copies[0]?.entries.map(({ link }) => link);
    assert.deepEqual(
      copy.entries.map(({ link }) => link),
      links,
      `copy ${index} has other links than copy 0`,
    );
    assert.deepEqual(copy.publishers, remembered, `copy ${index} remembers other publishers`);
  }
  for (const { text, result } of attempts) {
    if (result === undefined) continue;
    if (result.outcome === 'unavailable' && expected.lost.has(text)) continue;
    const isStored = result.outcome === 'appended' || result.outcome === 'repeated';
    assert.ok(isStored, `${text} is ${result.outcome}`);
    assert.equal(texts[result.seq - 1], text, `entry ${result.seq} was acknowledged`);
  }
  for (const seq of withheld)
    assert.ok(expected.withheld.has(seq), `entry ${seq} was said to be withheld`);
  assertErased(
    messages,
    [...expected.withheld].map((seq) => texts[seq - 1] ?? ''),
  );
  const valid = read.filter(({ isVoid }) => !isVoid);
  return {
    messages: messages.length,
    repeats: valid.length - new Set(valid.map(({ origin }) => origin)).size,
    voidMessages: read.length - valid.length,
    forgottenPublishers: forgotten,
    largeEntries: entries.filter(({ digest }) => digest !== undefined).length,
    lostUploads: expected.lostUploads,
    withheldEntries: expected.withheld.size,
    erasedMessages: messages.filter(({ isDeleted }) => isDeleted).length,
  };
}

const WITHHELD = 'withheld';

function summaryOf({ text, digest, isWithheld }: StoredEntry): string {
  const said = textsIn(text)[0];
  if (isWithheld && said === undefined) return WITHHELD;
  return `${said} ${digest}`;
}

function readMessage({ data, time }: StoredMessage): ReadMessage {
  const bytes = Buffer.from(data);
  const publisher = bytes.toString('hex', 2, 18);
  const sent = bytes.readUIntLE(30, 6);
  return {
    kind: bytes[1],
    time,
    publisher,
    gateway: publisher.slice(0, GATEWAY_SIZE),
    origin: bytes.toString('hex', 2, 24),
    number: bytes.readUIntLE(18, 6),
    settled: bytes.readUIntLE(24, 6),
    isVoid: Math.abs(time - sent) > DAY_MS,
    payload: bytes.subarray(68),
  };
}

/** A publisher is forgotten at the first message that comes more than three days after its last valid one. */
function publishersOf(messages: readonly ReadMessage[]): {
  readonly remembered: readonly string[];
  readonly forgotten: number;
} {
  const last = new Map<string, number>();
  let forgotten = 0;
  for (const { kind, publisher, time, isVoid } of messages) {
    if (isVoid || kind === CHUNK) continue;
    for (const [other, before] of last)
      if (time - before > 3 * DAY_MS && last.delete(other)) forgotten += 1;
    last.set(publisher, time);
  }
  return { remembered: [...last.keys()].toSorted(), forgotten };
}

/**
 * In the order of the stream: a message that comes again counts once, and not at all where its publisher
 * has said that it is settled, as one that was void before. A large body counts if all of it has come
 * before its draft, and was not abandoned meanwhile.
 */
function expectedOf(
  messages: readonly ReadMessage[],
  keyed: ReadonlySet<string>,
): {
  readonly entries: readonly ExpectedEntry[];
  readonly withheld: ReadonlySet<number>;
  /** The texts of drafts that became no entry. */
  readonly lost: ReadonlySet<string>;
  readonly lostUploads: number;
} {
  const seen = new Set<string>();
  const settled = new Map<string, number>();
  const uploads = new Map<string, Upload>();
  const bodies = new Map<string, string>();
  const entries: ExpectedEntry[] = [];
  const present = new Set<string>();
  const withheld = new Set<number>();
  const lost = new Set<string>();
  let lostUploads = 0;
  for (const message of messages) {
    const { kind, publisher, isVoid, origin, number, payload } = message;
    abandon(uploads, message);
    if (kind === CHUNK) {
      const name = payload.toString('latin1', 0, 36);
      const [said] = textsIn(payload.toString('latin1', 43, 143));
      if (said !== undefined) bodies.set(name, said);
      if (payload[36] === 0) receive(uploads, name, message);
      continue;
    }
    const before = settled.get(publisher) ?? 0;
    const isNew = !isVoid && number > before && !seen.has(origin);
    if (!isVoid) settled.set(publisher, Math.max(before, message.settled));
    if (!isVoid) seen.add(origin);
    // Each has one entry.
    if (kind === CASES && !isVoid)
      for (const [, seq] of inflateRawSync(payload)
        .toString()
        .matchAll(/"seqs":\[(\d+)\]/g))
        withheld.add(Number(seq));
    if (kind !== DRAFTS) continue;
    for (const { text, upload, size } of draftsIn(payload)) {
      const body = upload === undefined ? undefined : wholeBody(uploads.get(upload), size);
      const said = text ?? bodies.get(upload ?? '') ?? '';
      if (upload !== undefined) giveUp(uploads.get(upload));
      const isWhole = upload === undefined || body !== undefined;
      if (isNew && !isWhole) lostUploads += 1;
      if (isVoid || !isWhole) lost.add(said);
      if (!isNew || !isWhole || (keyed.has(said) && present.has(said))) continue;
      present.add(said);
      entries.push({ text: said, digest: body && sha256(body.subarray(0, -1)) });
    }
  }
  return { entries, withheld, lost, lostUploads };
}

/** An upload is given up when its gateway has started again, or its publisher was silent for a day. */
function abandon(uploads: Map<string, Upload>, { publisher, gateway, time }: ReadMessage): void {
  for (const upload of uploads.values()) {
    const isOfGateway = upload.publisher.startsWith(gateway);
    if (upload.publisher === publisher) upload.last = time;
    else if (isOfGateway || time - upload.last > DAY_MS) giveUp(upload);
  }
}

/** A void chunk ends its upload. */
function receive(
  uploads: Map<string, Upload>,
  name: string,
  { publisher, time, isVoid, payload }: ReadMessage,
): void {
  const none = { last: time, isGivenUp: false, chunks: new Map<number, Buffer>() };
  const upload = uploads.get(name) ?? { publisher, ...none };
  uploads.set(name, upload);
  if (isVoid) giveUp(upload);
  if (!upload.isGivenUp) upload.chunks.set(payload.readUIntLE(37, 6), payload.subarray(43));
}

function giveUp(upload: Upload | undefined): void {
  if (upload === undefined) return;
  upload.isGivenUp = true;
  upload.chunks.clear();
}

/** Undefined if some of it is missing. */
function wholeBody(upload: Upload | undefined, size: number): Buffer | undefined {
  const parts: Buffer[] = [];
  let at = 0;
  for (let next = upload?.chunks.get(at); next; next = upload?.chunks.get(at)) {
    parts.push(next);
    at += next.length;
  }
  return at === size ? Buffer.concat(parts) : undefined;
}

function* draftsIn(payload: Buffer): Generator<{
  readonly text: string | undefined;
  readonly upload: string | undefined;
  readonly size: number;
}> {
  const drafts = /"text":"(?<text>\w+)"|"name":"(?<upload>[\da-f-]{36})","size":(?<size>\d+)/g;
  for (const { groups } of payload.toString('latin1').matchAll(drafts))
    yield { text: groups?.['text'], upload: groups?.['upload'], size: Number(groups?.['size']) };
}

/** Nothing that can still be read in the stream has these. */
function assertErased(messages: readonly StoredMessage[], texts: readonly string[]): void {
  for (const { position, data, isDeleted } of messages) {
    if (isDeleted) continue;
    const said = new Set(textsIn(Buffer.from(data).toString('latin1')));
    const left = texts.find((text) => said.has(text));
    assert.equal(left, undefined, `message ${position} has what is withheld`);
  }
}

function textsIn(text: string): string[] {
  return Array.from(text.matchAll(/"text":"(\w+)"/g), ([, said = '']) => said);
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
