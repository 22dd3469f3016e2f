/** Storing what a visitor says: a body becomes a draft, the draft a durable entry. */
import { entryPath, GatewayError, type Kind, type Stamp } from '@open-presence/protocol';

import { readDraft, SMALL_BODY_SIZE } from '../intake/draft.ts';
import type { AppendResult, Draft, Log } from '../log/log.ts';
import type { OperationsContext } from './context.ts';

export interface Contribution {
  readonly kind: Kind;
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Digest of the idempotency key. */
  readonly key: Uint8Array | undefined;
}

/** A draft of a body of any length. Throws as `readDraft`. The caller disposes of a spooled body. */
export async function draftFor(
  { log, grammar }: Pick<OperationsContext, 'log' | 'grammar'>,
  { kind, body, key }: Contribution,
): Promise<Draft> {
  const chunks = body instanceof Uint8Array ? piecesOf(body) : body;
  return await readDraft(kind, chunks, { grammar, spool: () => log.spool(), key });
}

/** Small pieces, so that other requests have their turn between them. */
function* piecesOf(bytes: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += SMALL_BODY_SIZE)
    yield bytes.subarray(at, at + SMALL_BODY_SIZE);
}

/** Resolves once the entry is durable. Throws a `GatewayError` where it could not be stored. */
export async function append(log: Log, draft: Draft): Promise<Stamp> {
  return stampOf(await log.append(draft));
}

/** The stamp of a durable entry. Throws where the draft did not become one. */
export function stampOf(appended: AppendResult): Stamp {
  switch (appended.outcome) {
    case 'appended':
    case 'repeated':
      return appended.stamp;
    case 'conflict':
      throw conflict(appended.stamp);
    case 'refused':
      throw new GatewayError(appended.code, REFUSED[appended.code]);
  }
}

function conflict({ id }: Stamp): GatewayError {
  const path = entryPath(id);
  const detail = `Cannot store this entry: its idempotency key belongs to ${path}, which has other content. Use a new key for a new entry.`;
  return new GatewayError('idempotency-conflict', detail, { entry: path });
}

const AGAIN = 'Try again later with an Idempotency-Key, so that it is stored only once.';
const REFUSED = {
  'out-of-space': `Cannot store this entry: the disk is full. ${AGAIN}`,
  unavailable: `Cannot store this entry: storing does not work at the moment. ${AGAIN}`,
} as const;
