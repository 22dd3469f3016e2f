/** Parses the parameters and headers of a request for an event stream (PROTOCOL.md section 12.2). */
import { GatewayError, isKind, KINDS } from '@open-presence/protocol';

import { queryOf } from '../../http/context.ts';
import {
  describeForeignCursor,
  parseCursor,
  parseSelection,
  rejectTextQuery,
} from '../../intake/selection.ts';
import { facet } from '../../log/facet.ts';
import type { Seq } from '../../log/log.ts';
import type { ListingScope } from '../../operations/listing-scope.ts';
import type { DoorRequest } from '../context.ts';
import type { StreamSelection } from './fan-out.ts';

/** The event type of arriving and leaving visitors; also a value of `kind`. */
export const PRESENCE = 'presence';

const WAIT_INSTEAD =
  'an event stream sends entries before they are searchable. Request a listing or /api/search with "q", "after" and "wait" instead, such as /api/garden?q=mint&after=42&wait=30';

export type StreamScope = Pick<ListingScope, 'facets' | 'kinds' | 'subject'>;

export interface EventRequest extends StreamSelection {
  /** Whether entries are sent. */
  readonly entries: boolean;
  /** Whether events for arriving and leaving visitors are sent. */
  readonly presence: boolean;
  readonly after: Seq;
  /** What the first event has to add. */
  readonly notes: readonly string[];
  readonly limit: number;
  /** Slug of the room whose events are read, if any. */
  readonly room: string | undefined;
}

/** Throws `invalid-parameter`, `unknown-kind` or `unknown-room`. */
export function eventRequest(
  { app, request, params }: DoorRequest,
  scope: StreamScope,
): EventRequest {
  const parameters = queryOf(request);
  rejectTextQuery(parameters, scope.subject, WAIT_INSTEAD);
  const kindValues = parameters.getAll('kind');
  const kinds = kindsIn(kindValues, scope);
  parameters.delete('kind');
  const { grammar, log } = app;
  const { facets, since, after, limit } = parseSelection(parameters, { ...scope, grammar });
  const [first] = kinds;
  const selected =
    first !== undefined && kinds.size === 1 ? [...facets, facet('kind', first)] : facets;
  const several = kinds.size > 1 ? kinds : undefined;
  const lastEventId = request.headers['last-event-id'];
  const resumeFrom =
    typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : undefined;
  const head = log.head();
  const start = after ?? (since === undefined ? head : 0);
  const cursor = resumeFrom === undefined ? start : parseCursor(resumeFrom, scope.subject);
  return {
    key: keyOf(selected, since, several),
    selection: { facets: selected, ...(since === undefined ? {} : { since }) },
    kinds: several,
    entries: !scope.kinds || kinds.size > 0 || kindValues.length === 0,
    presence: kindValues.includes(PRESENCE),
    after: Math.min(cursor, head),
    notes: cursor > head ? [foreignCursorNote(cursor, head)] : [],
    limit: limit ?? Number.POSITIVE_INFINITY,
    room: params['slug'] ?? parameters.get('room') ?? undefined,
  };
}

/** Browsers do not reopen a stream after an error, so a cursor of another log gets a note. */
function foreignCursorNote(cursor: Seq, head: Seq): string {
  return `The cursor ${describeForeignCursor(cursor, head)}. This stream begins at the head; to read everything again, open it with after=0.`;
}

function kindsIn(values: readonly string[], scope: StreamScope): ReadonlySet<string> {
  const kinds = new Set(scope.kinds ? values.filter((kind) => kind !== PRESENCE) : []);
  for (const kind of kinds) if (!isKind(kind)) throw unknownKind(scope, kind);
  return kinds;
}

/** Equal for requests that receive the same chunks. */
function keyOf(
  facets: readonly Uint8Array[],
  since: number | undefined,
  kinds: ReadonlySet<string> | undefined,
): string {
  const values = facets.map((one) => Buffer.from(one).toString('latin1'));
  return JSON.stringify([values, since, [...(kinds ?? [])]]);
}

function unknownKind({ subject }: StreamScope, kind: string): GatewayError {
  const known = [...KINDS, PRESENCE];
  const detail = `"kind" must be one of ${known.join(', ')}, got ${JSON.stringify(kind.slice(0, 60))}`;
  const faults = [{ parameter: 'kind', detail }];
  return new GatewayError('unknown-kind', `Cannot read ${subject}: ${detail}`, { faults, known });
}
