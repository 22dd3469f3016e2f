/** Parses the parameters and headers of a request for an event stream (PROTOCOL.md section 12.2). */
import { createHash } from 'node:crypto';

import { isKind } from '@open-presence/protocol';

import { queryOf } from '../../http/parameters/query.ts';
import { describeForeignCursor, requireLogOrder } from '../../intake/parameter-faults.ts';
import { parseCursor, parseSelection } from '../../intake/selection.ts';
import type { FacetCondition } from '../../log/facet.ts';
import type { Seq } from '../../log/log.ts';
import type { ListingScope } from '../../operations/listing-scope.ts';
import { untilSeen } from '../../operations/until-seen.ts';
import type { DoorRequest } from '../context.ts';
import type { Framing, StreamSelection } from './fan-out.ts';

/** The event type of arriving and leaving visitors; also a value of `kind`. */
export const PRESENCE = 'presence';

export type StreamScope = Pick<ListingScope, 'facets' | 'fixed' | 'subject'>;

export interface EventRequest extends StreamSelection {
  /** Whether entries are sent. */
  readonly entries: boolean;
  /** Whether events for arriving and leaving visitors are sent. */
  readonly presence: boolean;
  /** Where the reader wants to begin. */
  readonly cursor: Seq;
  readonly limit: number;
  /** Slugs of the rooms whose events are read; empty for all. */
  readonly rooms: readonly string[];
}

/** Throws `invalid-parameter`, `unknown-kind` or `unknown-room`. */
export async function eventRequest(
  { app, request, params }: DoorRequest,
  scope: StreamScope,
  framing: Framing,
): Promise<EventRequest> {
  const parameters = queryOf(request);
  requireLogOrder(parameters, scope.subject);
  const kinds = [...new Set(parameters.getAll('kind'))];
  const { grammar, log } = app;
  const wanted = {
    ...scope,
    grammar,
    log,
    otherKinds: [PRESENCE],
    takesForeignCursor: true,
  } as const;
  // A cursor is waited for once the stream is open.
  await untilSeen(
    log,
    parameters.getAll('thread').map((id) => ['thread', id] as const),
  );
  const { after, limit, since, ...parsed } = await parseSelection(parameters, wanted);
  const { facets, withheld } = parsed;
  const lastEventId = request.headers['last-event-id'];
  const resumeFrom =
    typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : undefined;
  const start = after ?? (since === undefined ? log.head() : 0);
  return {
    cursor: resumeFrom === undefined ? start : parseCursor(resumeFrom, scope.subject),
    framing,
    key: `${keyOf(facets, since)} ${withheld ?? ''}`,
    selection: {
      facets,
      ...(since === undefined ? {} : { since }),
      ...(withheld === undefined ? {} : { withheld }),
    },
    entries: scope.fixed?.kind !== undefined || kinds.length === 0 || kinds.some(isKind),
    presence: kinds.includes(PRESENCE),
    limit: limit ?? Number.POSITIVE_INFINITY,
    rooms:
      params['slug'] === undefined ? [...new Set(parameters.getAll('room'))] : [params['slug']],
  };
}

/** Where a stream begins, and what its first event has to add. */
export interface StreamStart {
  readonly after: Seq;
  readonly notes: readonly string[];
}

/** Browsers do not reopen a stream after an error, so a cursor of another log gets a note. */
export function streamStart(cursor: Seq, head: Seq): StreamStart {
  return {
    after: Math.min(cursor, head),
    notes: cursor > head ? [foreignCursorNote(cursor, head)] : [],
  };
}

function foreignCursorNote(cursor: Seq, head: Seq): string {
  return `The cursor ${describeForeignCursor(cursor, head)}. This stream begins at the head; to read everything again, open it with after=0.`;
}

/** Equal for requests that receive the same chunks. */
function keyOf(facets: readonly FacetCondition[], since: number | undefined): string {
  const digest = createHash('sha256');
  for (const condition of facets) {
    if (condition instanceof Uint8Array)
      digest.update(`all ${condition.length} `).update(condition);
    else digest.update(`any ${condition.length} `).update(Buffer.concat(condition));
  }
  return digest.update(String(since)).digest('hex');
}
