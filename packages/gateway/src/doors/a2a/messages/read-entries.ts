/** The skills that read: their parameters, and the skill `read` (PROTOCOL.md section 19.4). */
import type { Part } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';

import { UnknownNames, WAIT_NOTE } from '../../../http/parameters/parameter-check.ts';
import {
  invalidParameter,
  parameterError,
  rejectParameters,
} from '../../../intake/parameter-faults.ts';
import { parseSearchSelection, parseSelection } from '../../../intake/selection.ts';
import { toJsonObject, type JsonObject } from '../../../json/json-object.ts';
import type { Selection } from '../../../log/log.ts';
import { NearNames } from '../../../near-names.ts';
import { CATCH_UP_PARAMETERS } from '../../../operations/catch-up/read-catch-up.ts';
import { everythingScope } from '../../../operations/listing-scope.ts';
import { pageSelection, readPage } from '../../../operations/read-page.ts';
import { untilSeen } from '../../../operations/until-seen.ts';
import { searchNotes, untilSearchable } from '../../../operations/search-watermark.ts';
import type { DoorRequest } from '../../context.ts';
import { LISTING_PARAMETERS } from '../../listing-parameters.ts';
import { isReading, requestedSkill, skillNamed, type ReadingSkill } from '../skills.ts';
import { dataPart, entryValue, visitorPart } from './parts.ts';
import type { ReceivedMessage } from './received-message.ts';

/** A page ends with the entry by which its entries have this size, in bytes. */
export const PAGE_SIZE: number = 256 * 1024;

export interface ReadingRequest {
  readonly skill: ReadingSkill;
  /** What the skill takes of the metadata and data of the message. */
  readonly fields: JsonObject;
  /** Sentences about data that have no effect. */
  readonly notes: readonly string[];
}

const LISTED = new NearNames([...LISTING_PARAMETERS, 'skip', 'skill']);
/** What the data of each skill may have. Others are told. */
const MEMBERS: Readonly<Record<ReadingSkill, NearNames>> = {
  'catch-up': new NearNames([...CATCH_UP_PARAMETERS, 'as', 'room', 'skill']),
  read: LISTED,
  search: LISTED,
  follow: LISTED,
  'get-entry': new NearNames(['id', 'as', 'room', 'skill']),
  'who-is-here': new NearNames(['room', 'limit', 'as', 'skill']),
};

/** Those that wait for what comes after a cursor. */
const WAITING: ReadonlySet<ReadingSkill> = new Set(['read', 'search']);

/**
 * Undefined for a message that does not request to read. Throws if it has other data, which might be
 * meant as an entry. Text beside the request is not stored; a search without `q` looks for it.
 */
export function readingRequestIn({
  message,
  metadata,
}: ReceivedMessage): ReadingRequest | undefined {
  const data = message.parts.flatMap(({ content, metadata: partMetadata = {} }) => {
    if (content?.$case !== 'data') return [];
    const members = toJsonObject(content.value);
    return [{ members, skill: requestedSkill([partMetadata, metadata, members]) }];
  });
  const requests = data.length === 0 ? [{ members: {}, skill: requestedSkill([metadata]) }] : data;
  const skill = requests.map((request) => request.skill).find(isReading);
  if (skill === undefined) return undefined;
  if (data.length > 1) throw new RequestMalformedError(OTHER_DATA);
  const texts: string[] = [];
  for (const { content } of message.parts) {
    if (content?.$case === 'text') texts.push(content.value);
  }
  const words = skill === 'search' && texts.length > 0 ? { q: texts.join(' ') } : {};
  const members = toJsonObject(requests[0]?.members);
  const near = MEMBERS[skill];
  const given = Object.entries({ ...words, ...metadata, ...members });
  const fields = Object.fromEntries(given.filter(([name]) => near.has(name)));
  const notes = notesOn(members, skill);
  const waits = WAITING.has(skill) && isGiven(fields['wait']) && !isGiven(fields['after']);
  return { skill, fields, notes: waits ? [...notes, WAIT_NOTE] : notes };
}

function notesOn(members: JsonObject, skill: ReadingSkill): string[] {
  const near = MEMBERS[skill];
  const unknown = new UnknownNames();
  for (const [name, value] of Object.entries(members)) {
    // A skill can also be named by `kind`.
    if (name === 'kind' && skillNamed(value) === skill) continue;
    if (isGiven(value) && !near.has(name)) unknown.add(name);
  }
  return unknown.notes(near, 'member');
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

const OTHER_DATA =
  'Cannot read the message: data that ask to read must be the only data in it. Send the others in another message.';

type Scalar = string | number | boolean;
export type Parameter = Scalar | readonly Scalar[];

/** The fields that can be parameters of a listing. */
export function parameterFields(fields: JsonObject): Readonly<Record<string, Parameter>> {
  const found = Object.entries(fields).flatMap(([name, value]): [string, Parameter][] => {
    if (isScalar(value)) return [[name, value]];
    return Array.isArray(value) ? [[name, value.filter(isScalar)]] : [];
  });
  return Object.fromEntries(found);
}

function isScalar(value: unknown): value is Scalar {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/** The fields as the query of a listing. Throws `invalid-parameter` for a value that a query cannot have. */
export function parametersOf(fields: JsonObject): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    for (const single of [value ?? []].flat()) {
      if (isScalar(single)) parameters.append(name, String(single));
      else {
        const detail = `"${name}" must be a text or a number`;
        throw parameterError([invalidParameter(name, detail)], 'the entries');
      }
    }
  }
  return parameters;
}

/** Ignores `q`. Throws for parameters that cannot be used. */
export async function selectionOf(
  { app }: DoorRequest,
  parameters: URLSearchParams,
): Promise<Selection> {
  const { grammar, log } = app;
  await untilSeen(log, parameters);
  return parseSelection(parameters, { ...everythingScope(), grammar, log });
}

const REFUSED = { skip: 'only a search can skip results; read on with "next"' };

/** Answers a page of entries, and the fields that request the next page. */
export async function readEntries(
  context: DoorRequest,
  fields: JsonObject,
  { signal }: { readonly signal: AbortSignal },
): Promise<Part[]> {
  const { log } = context.app;
  const parameters = parametersOf(fields);
  rejectParameters(parameters, 'the entries', REFUSED);
  const scope = { ...everythingScope(), grammar: context.app.grammar, log };
  const selected = await parseSearchSelection(parameters, scope);
  const isSearch = selected.textQuery !== undefined;
  if (isSearch) await untilSearchable(log, signal);
  const head = log.head();
  const watermark = isSearch ? log.searchWatermark() : undefined;
  const notes = searchNotes(parameters, selected, { head, watermark });
  const selection = pageSelection(selected, parameters, head);
  const entries: unknown[] = [];
  const end = await readPage(
    log.readEntries({ ...selection, signal }),
    PAGE_SIZE,
    async (entry) => {
      entries.push(await entryValue(entry));
      return entry.size;
    },
  );
  const cursor = selection.order === 'newest' ? 'before' : 'after';
  const hasNext = end.more && end.last !== undefined;
  const next = hasNext ? { ...parameterFields(fields), [cursor]: end.last } : null;
  return [
    dataPart({ head, log: log.id, ...(notes.length === 0 ? {} : { notes }), next }),
    visitorPart(context, { entries }),
  ];
}
