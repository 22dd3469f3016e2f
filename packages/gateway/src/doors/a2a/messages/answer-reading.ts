/** Answers messages that ask to read: each skill but `follow` (PROTOCOL.md section 19.4). */
import type { Part } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { GatewayError } from '@open-presence/protocol';

import { toJsonObject, type JsonObject } from '../../../json/json-object.ts';
import { catchUpParts } from '../../../operations/catch-up/catch-up-answers.ts';
import { findEntry } from '../../../operations/find-entry.ts';
import { everythingScope } from '../../../operations/listing-scope.ts';
import { CATCH_UP_PARAMETERS, readCatchUp } from '../../../operations/catch-up/read-catch-up.ts';
import { DEFAULT_LIMIT, readPage } from '../../../operations/read-page.ts';
import {
  type Match,
  matchesOf,
  nextResults,
  resultNotes,
  searchRequest,
  snippetOf,
} from '../../../operations/search.ts';
import { waitForListing } from '../../../operations/wait.ts';
import { untilSeen } from '../../../operations/until-seen.ts';
import { presencePage, visitorFor } from '../../../operations/who-is-here.ts';
import type { DoorRequest } from '../../context.ts';
import type { ReadingSkill } from '../skills.ts';
import { dataPart, entryValue, visitorPart } from './parts.ts';
import {
  PAGE_SIZE,
  parameterFields,
  parametersOf,
  readEntries,
  selectionOf,
  type ReadingRequest,
} from './read-entries.ts';

export interface AnswerContext {
  readonly context: DoorRequest;
  /** Aborted when the caller leaves or the gateway stops. */
  readonly signal: AbortSignal;
}

/** Makes the reader present, if it gives a name as `as`. */
export async function answerReading(
  answer: AnswerContext,
  skill: Exclude<ReadingSkill, 'follow'>,
  { fields, notes }: ReadingRequest,
): Promise<Part[]> {
  const { app } = answer.context;
  const reader = visitorFor(app, fields['as'], fields['room']);
  if (reader !== undefined) app.presence.recordRequest(reader);
  await untilSeen(app.log, Object.entries(fields));
  const parts = await ANSWERS[skill](answer, fields);
  return notes.length === 0 ? parts : withNotes(parts, notes);
}

/** In the gateway's own data, which some answers have not. */
function withNotes(parts: readonly Part[], notes: readonly string[]): Part[] {
  const [first, ...others] = parts;
  const own = first?.metadata === undefined ? toJsonObject(first?.content?.value) : undefined;
  if (own === undefined) return [dataPart({ notes }), ...parts];
  const all = [...notes, ...[own['notes'] ?? []].flat()];
  return [dataPart({ ...own, notes: all }), ...others];
}

type Answer = (answer: AnswerContext, fields: JsonObject) => Promise<Part[]>;

const ANSWERS: Readonly<Record<Exclude<ReadingSkill, 'follow'>, Answer>> = {
  'catch-up': catchUp,
  async read({ context, signal }, fields) {
    await waitForListing(context.app, everythingScope(), parametersOf(fields), signal);
    return await readEntries(context, fields, { signal });
  },
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
  const next = cursors && { ...parameterFields(fields), ...cursors };
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
  if (typeof id !== 'string') throw noId();
  try {
    const entry = await findEntry(context.app.log, id);
    return [visitorPart(context, { entry: await entryValue(entry) })];
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'not-found') throw error;
    // A2A has an error only for unknown tasks. This one is an error of the request and names its code.
    const { code, message } = error;
    throw new RequestMalformedError({ message, metadata: { code } });
  }
}

function noId(): GatewayError {
  const detail = '"id" must be the id of an entry';
  const faults = [{ parameter: 'id', detail }];
  return new GatewayError('invalid-parameter', `Cannot read an entry: ${detail}`, { faults });
}

async function whoIsHere(
  { context, signal }: AnswerContext,
  { room, limit }: JsonObject,
): Promise<Part[]> {
  const { app } = context;
  const parameters = parametersOf({ room, limit });
  const { limit: max = Infinity } = await selectionOf(context, parameters);
  const rooms = parameters.getAll('room');
  const query = { rooms, limit: max, maxSize: PAGE_SIZE / 2, signal };
  const { head, here, lately, more } = await presencePage(app, query);
  return [dataPart({ head, log: app.log.id, more }), visitorPart(context, { here, lately })];
}
