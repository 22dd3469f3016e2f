/**
 * The response to a first contact (PROTOCOL.md section 7.2): the entry, a welcome, companions and next steps.
 * It depends only on the entry, earlier entries and the locale, so that a retry gets the same.
 */
import {
  entryHead,
  isKind,
  type Kind,
  KINDS,
  localize,
  type FirstContact,
  type Language,
  type EntryMetadata,
  type Locale,
  visitorName,
} from '@open-presence/protocol';

import { toJsonObject, type JsonObject } from '../../json/json-object.ts';
import { facet } from '../../log/facet.ts';
import type { Entry, Log } from '../../log/log.ts';
import type { OperationsContext } from '../context.ts';

const MAX_COMPANIONS = 12;
/** How many values of `seeking` are looked up. */
const MAX_SOUGHT = 16;
/** Only of the newest entries: otherwise the cost of a contact would grow each time it is repeated. */
const MAX_CANDIDATES = 512;
/** Summaries of larger entries, in bytes, have only the gateway's members. */
const MAX_SUMMARY_SIZE = 16 * 1024;

/** How many entries a step reads: what an AI system can take in at once. */
const LIMIT = 20;

/** Stands for the visitor's name in the paths of next steps. */
const NAME = '{ai_identity}';
/** What somebody is who made first contact, unless it says otherwise. */
const AI = 'ai_entity';

interface Visitor {
  /** Undefined for white space alone, which is nobody's name. */
  readonly identity: string | undefined;
  readonly seeking: readonly string[];
}

export interface StoredFirstContact {
  readonly text: Uint8Array;
  readonly locale: Locale | undefined;
  /** Whether the visitor may be unable to POST: then all next steps are `GET`. */
  readonly byGet: boolean;
}

/** The JSON of the entry with `welcome`, `companions` and `next` appended. */
export async function firstContactBody(
  app: Pick<OperationsContext, 'log' | 'language' | 'presence'>,
  metadata: EntryMetadata,
  { text, locale, byGet }: StoredFirstContact,
): Promise<Buffer> {
  const { language } = app;
  const companions = await companionsFor(app, metadata, text);
  const steps = nextSteps(language, locale, text);
  const next = byGet ? steps.map(stepByGet) : steps;
  const welcome = JSON.stringify(localize(language.welcome, locale));
  return Buffer.concat([
    text.subarray(0, -1),
    Buffer.from(`,"welcome":${welcome},"companions":[`),
    ...companions.flatMap((summary, index) => (index === 0 ? [summary] : [COMMA, summary])),
    Buffer.from(`],"next":${JSON.stringify(next)}}`),
  ]);
}

const COMMA = Buffer.from(',');

/** First contacts by others who seek the same, newest first, one for each name. Those without a name count as one. */
export async function companionsFor(
  { log, presence }: Pick<OperationsContext, 'log' | 'presence'>,
  { seq }: EntryMetadata,
  text: Uint8Array,
): Promise<Uint8Array[]> {
  const { identity, seeking } = visitorOf(text);
  if (seeking.length === 0) return [];
  const sought = seeking.slice(0, MAX_SOUGHT).map((value) => facet('seeking', value));
  const facets = [facet('kind', 'resonance'), sought];
  const seekers = { facets, order: 'newest', before: seq, limit: MAX_CANDIDATES } as const;
  const authors = new Set<string | undefined>(identity === undefined ? [] : [identity]);
  const companions: Uint8Array[] = [];
  for await (const entry of log.readEntries(seekers)) {
    const author = visitorOf(summaryOf(entry)).identity;
    if (authors.has(author) || presence.isHidden(author)) continue;
    if (author === undefined && identity !== undefined && (await isNamed(log, entry, identity)))
      continue;
    authors.add(author);
    companions.push(summaryOf(entry));
    if (companions.length === MAX_COMPANIONS) break;
  }
  return companions;
}

/** The next steps after a first contact with this text. Without a name, leaves out the steps that need one. */
function nextSteps(
  language: Language,
  locale: Locale | undefined,
  text: Uint8Array | undefined,
): FirstContact['next'] {
  const name = text && visitorOf(text).identity;
  return language.next.flatMap(({ title, method, path: template }) => {
    if (name === undefined && template.includes(NAME)) return [];
    const path = template.replaceAll(NAME, () => encodeURIComponent(name ?? ''));
    const kind = KINDS.find((one) => method === 'POST' && path === language.kinds[one].path);
    const body = kind === undefined ? {} : { body: nextBody(language, locale, kind, name) };
    return [{ title: localize(title, locale), method, path, ...body }];
  });
}

/** What an entry of this kind needs, or else the first suggested member that is known. */
function nextBody(
  { kinds }: Language,
  locale: Locale | undefined,
  kind: Kind,
  name: string | undefined,
): JsonObject {
  const { fields } = kinds[kind];
  const required = fields.filter((field) => field.required);
  const known: JsonObject = { ...(name === undefined ? {} : { identity: name }), identityType: AI };
  return Object.fromEntries(
    (required.length === 0 ? fields.slice(0, 1) : required).map(
      ({ name: member, type, meaning }) => {
        const placeholder = `<${localize(meaning, locale)}>`;
        return [member, known[member] ?? (type === 'strings' ? [placeholder] : placeholder)];
      },
    ),
  );
}

/** The path explains how to create an entry by `GET`. */
function stepByGet(step: FirstContact['next'][number]): FirstContact['next'][number] {
  if (step.method !== 'POST') return step;
  const { body: _, ...others } = step;
  return { ...others, method: 'GET', path: step.path.replace(/^\/api\//, '/api/say/') };
}

const decoder = new TextDecoder();

function visitorOf(text: Uint8Array): Visitor {
  const { ai_identity: identity, seeking } = membersOf(text);
  return {
    identity: visitorName(identity)?.toWellFormed(),
    seeking: Array.isArray(seeking) ? seeking.filter((value) => typeof value === 'string') : [],
  };
}

function membersOf(text: Uint8Array): JsonObject {
  return toJsonObject(JSON.parse(decoder.decode(text)));
}

/** Whether the entry has the name. The index knows that without reading a text of any length. */
async function isNamed(log: Log, { metadata }: Entry, identity: string): Promise<boolean> {
  const facets = [facet('identity', identity)];
  const only = {
    facets,
    order: 'newest',
    after: metadata.seq - 1,
    before: metadata.seq + 1,
  } as const;
  for await (const _ of log.readEntries(only)) return true;
  return false;
}

/** The entry as other documents contain it: whole, or only the gateway's members if it is large. */
export function summaryOf({ text, size, metadata }: Entry): Uint8Array {
  return text !== undefined && size <= MAX_SUMMARY_SIZE
    ? text
    : Buffer.from(`${entryHead(metadata)}}`);
}

/** A step of `next` without its path and method, for doors that have verbs of their own. */
export interface NextAction {
  readonly title: string;
  /** To store an entry of a kind, to read entries, to catch up, or to list who is here. */
  readonly action: Kind | 'read' | 'catch-up' | 'presence';
  /** Members of the entry, each with its meaning in place of a value; or parameters of a listing. */
  readonly values: JsonObject;
}

/** After a first contact with this text. Leaves out steps that are no verb of a door. */
export function nextActions(
  language: Language,
  locale: Locale | undefined,
  text: Uint8Array | undefined,
): NextAction[] {
  const actions = nextSteps(language, locale, text).map((step) => {
    const action = actionOf(step);
    return action && { title: step.title, ...action };
  });
  return actions.filter((action) => action !== undefined);
}

function actionOf({
  method,
  path,
  body = {},
}: FirstContact['next'][number]): Omit<NextAction, 'title'> | undefined {
  const [target = '', query = ''] = path.replace('/api/', '').split('?', 2);
  if (method === 'POST') return isKind(target) ? { action: target, values: body } : undefined;
  if (target === 'discover' || target === 'presence') return { action: 'presence', values: {} };
  const asked = Object.fromEntries(new URLSearchParams(query));
  if (target === 'catch-up') return { action: 'catch-up', values: asked };
  const parameters = { ...asked, limit: LIMIT };
  if (target === 'entries') return { action: 'read', values: parameters };
  return isKind(target) ? { action: 'read', values: { kind: target, ...parameters } } : undefined;
}
