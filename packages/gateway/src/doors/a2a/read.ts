/** Messages that ask to read: their parameters, and the answers of each skill but `follow` (PROTOCOL.md section 19.4). */
import type { Part } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { GatewayError, quoted } from '@open-presence/protocol';

import {
  invalidParameter,
  parameterError,
  rejectParameters,
} from '../../intake/parameter-faults.ts';
import { parseSearchSelection, parseSelection } from '../../intake/selection.ts';
import { toJsonObject, type JsonObject } from '../../json/json-object.ts';
import type { Selection } from '../../log/log.ts';
import { NearNames } from '../../near-names.ts';
import { catchUpParts } from '../../operations/catch-up/catch-up-answers.ts';
import { CATCH_UP_PARAMETERS, readCatchUp } from '../../operations/catch-up/read-catch-up.ts';
import { findEntry } from '../../operations/find-entry.ts';
import { everythingScope } from '../../operations/listing-scope.ts';
import { namesAsked, notesOnNames } from '../../operations/near-visitor.ts';
import { DEFAULT_LIMIT, pageSelection, readPage } from '../../operations/read-page.ts';
import {
  type Match,
  matchesOf,
  nextResults,
  resultNotes,
  searchRequest,
  snippetOf,
} from '../../operations/search.ts';
import { searchNotes, untilSearchable } from '../../operations/search-watermark.ts';
import { untilSeen } from '../../operations/until-seen.ts';
import { waitForListing } from '../../operations/wait.ts';
import { presencePage, visitorFor } from '../../operations/who-is-here.ts';
import type { DoorRequest } from '../context.ts';
import { LISTING_PARAMETERS } from '../listing-parameters.ts';
import { textsIn, type ReceivedMessage } from './message.ts';
import { dataPart, entryValue, visitorPart } from './parts.ts';
import { isReading, requestedSkill, skillNamed, type ReadingSkill } from './skills.ts';

/** A page ends with the entry by which its entries have this size, in bytes. */
const PAGE_SIZE = 256 * 1024;

interface ReadingRequest {
  readonly skill: ReadingSkill;
  /** What the skill takes of the metadata and data of the message. */
  readonly fields: JsonObject;
}

const LISTED = new NearNames([...LISTING_PARAMETERS, 'skip', 'skill']);
/** What the data of each skill may have. */
const MEMBERS: Readonly<Record<ReadingSkill, NearNames>> = {
  'catch-up': new NearNames([...CATCH_UP_PARAMETERS, 'as', 'room', 'skill']),
  read: LISTED,
  search: LISTED,
  follow: LISTED,
  'get-entry': new NearNames(['id', 'as', 'room', 'skill']),
  'who-is-here': new NearNames(['room', 'limit', 'as', 'skill']),
};

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
  const texts = textsIn(message);
  const words = skill === 'search' && texts.length > 0 ? { q: texts.join(' ') } : {};
  const members = toJsonObject(requests[0]?.members);
  requireKnown(members, skill);
  const given = Object.entries({ ...words, ...metadata, ...members });
  return { skill, fields: Object.fromEntries(given.filter(([name]) => MEMBERS[skill].has(name))) };
}

/** A filter without effect would answer other entries than those that were meant. */
function requireKnown(members: JsonObject, skill: ReadingSkill): void {
  const known = MEMBERS[skill];
  for (const [name, value] of Object.entries(members)) {
    // A skill can also be named by `kind`.
    const namesSkill = name === 'kind' && skillNamed(value) === skill;
    if (known.has(name) || namesSkill || value === null) continue;
    const near = known.meant(name);
    const advice = near === undefined ? 'Leave it out.' : `Did you mean ${quoted(near)}?`;
    const detail = `${skill} takes no member ${quoted(name)}. ${advice}`;
    throw parameterError([invalidParameter(name, detail)], 'the message');
  }
}

const OTHER_DATA =
  'Cannot read the message: data that ask to read must be the only data in it. Send the others in another message.';

type Scalar = string | number | boolean;

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

interface AnswerContext {
  readonly context: DoorRequest;
  /** Aborted when the caller leaves or the gateway stops. */
  readonly signal: AbortSignal;
}

type Answer = (answer: AnswerContext, fields: JsonObject) => Promise<Part[]>;
type AnsweredSkill = Exclude<ReadingSkill, 'follow'>;

/** Makes the reader present, if it gives a name as `as`. */
export async function answerReading(
  answer: AnswerContext,
  skill: AnsweredSkill,
  fields: JsonObject,
): Promise<Part[]> {
  const { app } = answer.context;
  const reader = visitorFor(app, fields['as'], fields['room']);
  if (reader !== undefined) app.presence.recordRequest(reader);
  await untilSeen(app.log, Object.entries(fields));
  const parts = await ANSWERS[skill](answer, fields);
  const notes = await notesOnNames(app, namesAsked(parametersOf(fields)));
  return notes.length === 0 ? parts : [dataPart({ notes }), ...parts];
}

const ANSWERS: Readonly<Record<AnsweredSkill, Answer>> = {
  'catch-up': catchUp,
  read: readEntries,
  search,
  'get-entry': getEntry,
  'who-is-here': whoIsHere,
};

/** What visitors said stands apart, as everywhere here. */
async function catchUp({ context, signal }: AnswerContext, fields: JsonObject): Promise<Part[]> {
  const names: ReadonlySet<string> = new Set(CATCH_UP_PARAMETERS);
  const asked = Object.fromEntries(Object.entries(fields).filter(([name]) => names.has(name)));
  const found = await readCatchUp(context.app, parametersOf(asked), {
    example: { skill: 'catch-up', identity: 'Lumen' },
    signal,
  });
  const { own, items } = catchUpParts(found);
  const skill = 'catch-up';
  const requests = {
    more: own.more.map(({ request, ...counted }) => ({
      ...counted,
      ...(request === undefined ? {} : { data: { skill, ...request } }),
    })),
    next: own.next && { skill, ...own.next },
    sleep: { skill, ...own.sleep },
  };
  return [dataPart({ ...own, ...requests }), visitorPart(context, { items })];
}

const REFUSED = { skip: 'only a search can skip results; read on with "next"' };

/** Answers a page of entries, and the fields that request the next page. */
async function readEntries(
  { context, signal }: AnswerContext,
  fields: JsonObject,
): Promise<Part[]> {
  const { log, grammar } = context.app;
  const parameters = parametersOf(fields);
  rejectParameters(parameters, 'the entries', REFUSED);
  await waitForListing(context.app, everythingScope(), parameters, signal);
  const scope = { ...everythingScope(), grammar, log };
  const selected = await parseSearchSelection(parameters, scope);
  const isSearch = selected.textQuery !== undefined;
  if (isSearch) await untilSearchable(log, signal);
  const head = log.head();
  const watermark = isSearch ? log.searchWatermark() : undefined;
  const notes = searchNotes(parameters, selected, { head, watermark });
  const selection = pageSelection(selected, parameters, head);
  const entries: unknown[] = [];
  const found = log.readEntries({ ...selection, signal });
  const end = await readPage(found, PAGE_SIZE, async (entry) => {
    entries.push(await entryValue(entry));
    return entry.size;
  });
  const cursor = selection.order === 'newest' ? 'before' : 'after';
  const next = end.more && end.last !== undefined ? { ...fields, [cursor]: end.last } : null;
  return [
    dataPart({ head, log: log.id, ...(notes.length === 0 ? {} : { notes }), next }),
    visitorPart(context, { entries }),
  ];
}

async function search({ context, signal }: AnswerContext, fields: JsonObject): Promise<Part[]> {
  const { app } = context;
  const request = await searchRequest(app, parametersOf(fields), {
    defaultLimit: DEFAULT_LIMIT,
    example: { skill: 'search', q: 'garden' },
    signal,
  });
  const { selection, head, watermark: known } = request;
  const results: object[] = [];
  const matches: Match[] = [];
  const end = await readPage(matchesOf(app.log, request), PAGE_SIZE, async (entry) => {
    const snippet = await snippetOf(app.log, entry, selection);
    results.push({ entry: await entryValue(entry), snippet });
    matches.push(entry);
    return entry.size;
  });
  const [first] = matches;
  const notes = resultNotes(request, first);
  const cursors = nextResults(request, end, matches.at(-1));
  const next = cursors && { ...fields, ...cursors };
  const rankedFrom = first?.rankedFrom;
  const own = {
    head,
    log: app.log.id,
    known,
    ...(rankedFrom === undefined ? {} : { rankedFrom }),
    ...(notes.length === 0 ? {} : { notes }),
    next,
  };
  return [dataPart(own), visitorPart(context, { results })];
}

async function getEntry({ context }: AnswerContext, { id }: JsonObject): Promise<Part[]> {
  if (typeof id !== 'string' && typeof id !== 'number')
    throw parameterError(
      [invalidParameter('id', '"id" must be the id or the seq of an entry')],
      'an entry',
    );
  try {
    const entry = await findEntry(context.app.log, String(id));
    return [visitorPart(context, { entry: await entryValue(entry) })];
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'not-found') throw error;
    // A2A has an error only for unknown tasks. This one is an error of the request and names its code.
    const { code, message } = error;
    throw new RequestMalformedError({ message, metadata: { code } });
  }
}

async function whoIsHere(
  { context, signal }: AnswerContext,
  { room, limit }: JsonObject,
): Promise<Part[]> {
  const { app } = context;
  const parameters = parametersOf({ room, limit });
  const selected = await selectionOf(context, parameters);
  const rooms = parameters.getAll('room');
  const query = { rooms, limit: selected.limit, maxSize: PAGE_SIZE / 2, signal };
  const { head, here, lately, others } = await presencePage(app, query);
  return [dataPart({ head, log: app.log.id, others }), visitorPart(context, { here, lately })];
}
