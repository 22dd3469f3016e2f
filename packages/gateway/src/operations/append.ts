/** Storing an entry: the body is parsed into a draft, the draft is appended to the log. */
import { entryPath, GatewayError, type Kind, type Stamp } from '@open-presence/protocol';

import { readDraft, SMALL_BODY_SIZE } from '../intake/draft.ts';
import type { AppendResult, Draft, Log } from '../log/log.ts';
import type { OperationsContext } from './context.ts';

export interface Contribution {
  readonly kind: Kind;
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Hash of the idempotency key. */
  readonly key: Uint8Array | undefined;
}

/** Parses a body of any size. Throws as `readDraft`. The caller disposes of a spooled body. */
export async function draftFor(
  { log, grammar }: Pick<OperationsContext, 'log' | 'grammar'>,
  { kind, body, key }: Contribution,
): Promise<Draft> {
  const chunks = body instanceof Uint8Array ? smallChunksOf(body) : body;
  return await readDraft(kind, chunks, { grammar, spool: () => log.spool(), key });
}

/** Small chunks, so that other requests get their turn between them. */
function* smallChunksOf(bytes: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let start = 0; start < bytes.length; start += SMALL_BODY_SIZE) {
    yield bytes.subarray(start, start + SMALL_BODY_SIZE);
  }
}

/** Resolves once the entry is durable. Throws a `GatewayError` if it was not stored. */
export async function append(log: Log, draft: Draft): Promise<Stamp> {
  return stampOf(await log.append(draft));
}

/** The stamp of the stored entry. Throws a `GatewayError` if the draft was not stored. */
export function stampOf(result: AppendResult): Stamp {
  switch (result.outcome) {
    case 'appended':
    case 'repeated':
      return result.stamp;
    case 'conflict':
      throw conflict(result.stamp);
    case 'refused':
      throw new GatewayError(result.code, REFUSED[result.code]);
  }
}

function conflict({ id }: Stamp): GatewayError {
  const path = entryPath(id);
  const detail = `Cannot store this entry: its idempotency key belongs to ${path}, which has other content. Use a new key for a new entry.`;
  return new GatewayError('idempotency-conflict', detail, { entry: path });
}

const RETRY = 'Try again later with an Idempotency-Key, so that it is stored only once.';
const REFUSED = {
  'out-of-space': `Cannot store this entry: the disk is full. ${RETRY}`,
  unavailable: `Cannot store this entry: storing does not work at the moment. ${RETRY}`,
} as const;
