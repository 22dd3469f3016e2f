/** Storing an entry: the body is parsed into a draft, the draft is appended to the log. */
import {
  entryHead,
  entryPath,
  GatewayError,
  quoted,
  type Kind,
  type EntryMetadata,
} from '@open-presence/protocol';

import { readDraft, SMALL_BODY_SIZE } from '../../intake/draft.ts';
import type { ParsedDraft } from '../../intake/body-reader.ts';
import { differingMembers } from '../../json/differing-members.ts';
import type { AppendOutcome, Draft, Entry, Log } from '../../log/log.ts';
import type { OperationsContext } from '../context.ts';

export interface Contribution {
  readonly kind: Kind;
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Hash of the idempotency key. */
  readonly key: Uint8Array | undefined;
}

/** Parses a body of any size. Throws as `readDraft`, and `misdirected` in a mirror. The caller disposes of a spooled body. */
export async function draftFor(
  { log, grammar, mirror }: Pick<OperationsContext, 'log' | 'grammar' | 'mirror'>,
  { kind, body, key }: Contribution,
): Promise<ParsedDraft> {
  if (mirror !== undefined) throw mirror.refusal();
  const reason = log.readOnly();
  if (reason !== undefined) throw readOnlyError(reason);
  const chunks = body instanceof Uint8Array ? smallChunksOf(body) : body;
  return await readDraft(kind, chunks, { grammar, spool: () => log.spool(), key });
}

/** Small chunks, so that other requests get their turn between them. */
function* smallChunksOf(bytes: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let start = 0; start < bytes.length; start += SMALL_BODY_SIZE) {
    yield bytes.subarray(start, start + SMALL_BODY_SIZE);
  }
}

/** An entry that is durable. */
export interface StoredEntry {
  readonly metadata: EntryMetadata;
  /** Whether it was stored before under the same key, perhaps by somebody else. */
  readonly isRepeated: boolean;
}

/**
 * Resolves once the entry is durable. Throws a `GatewayError` if it was not stored: `idempotency-conflict` if
 * the key belongs to an entry with other members.
 */
export async function append(log: Log, draft: Draft): Promise<StoredEntry> {
  const result = await log.append(draft);
  if (result.outcome !== 'conflict')
    return { metadata: metadataOf(result), isRepeated: result.outcome === 'repeated' };
  const { metadata } = result;
  const differences = await differencesFrom(
    metadata,
    draft,
    await log.entry(metadata.seq, 'exact'),
  );
  if (differences?.length === 0) return { metadata, isRepeated: true };
  throw conflict(metadata, differences);
}

/** The metadata of the stored entry. Throws a `GatewayError` if the draft was not stored. */
export function metadataOf(result: AppendOutcome): EntryMetadata {
  if (result.outcome !== 'refused') return result.metadata;
  if (result.reason !== undefined) throw readOnlyError(result.reason);
  throw new GatewayError(result.code, REFUSED[result.code]);
}

/** `reason`: why the owner lets nothing be stored. */
function readOnlyError(reason: string): GatewayError {
  const detail = `Cannot store this entry: whoever runs this gateway has made it read-only. The reason: ${quoted(reason)}. Reading, searching, streams and presence go on. ${RETRY}`;
  return new GatewayError('unavailable', detail);
}

/** The members in which a draft differs from an entry. Undefined if one of the two is too large to compare. */
async function differencesFrom(
  metadata: EntryMetadata,
  { kind, room, body }: Draft,
  entry: Entry | undefined,
): Promise<string[] | undefined> {
  if (kind !== metadata.kind) return ['kind'];
  if (room !== metadata.room) return ['room'];
  if (entry?.text === undefined || !(body instanceof Uint8Array)) return undefined;
  const stored = Buffer.from(entry.text).subarray(entryHead(metadata).length + 1, -1);
  try {
    return await differingMembers(inBraces(stored), inBraces(body));
  } catch (error) {
    // Nested too deep.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function inBraces(members: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from('{'), members, Buffer.from('}')]);
}

/** More would not help to find the difference. */
const MAX_NAMED = 10;

function conflict({ id }: EntryMetadata, differences: readonly string[] | undefined): GatewayError {
  const path = entryPath(id);
  const names = differences?.slice(0, MAX_NAMED).map(quoted).join(', ');
  const difference = names === undefined ? 'other content' : `another value of ${names}`;
  const detail = `Cannot store this entry: its idempotency key belongs to ${path}, which has ${difference}.`;
  return new GatewayError('idempotency-conflict', detail, { entry: path });
}

const RETRY = 'Try again later with an Idempotency-Key, so that it is stored only once.';
const REFUSED = {
  'out-of-space': `Cannot store this entry: the disk is full. ${RETRY}`,
  unavailable: `Cannot store this entry: storing does not work at the moment. ${RETRY}`,
} as const;
