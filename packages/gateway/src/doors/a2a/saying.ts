/** A message becomes entries: each data part one, all its text together one (section 19.3). */

import type { Message, Part } from '@a2a-js/sdk';
import { ContentTypeNotSupportedError, RequestMalformedError } from '@a2a-js/sdk/errors';
import {
  GatewayError,
  isKind,
  KINDS,
  localize,
  type Kind,
  type Stamp,
} from '@open-presence/protocol';

import { hashIdempotencyKey } from '../../intake/idempotency-key.ts';
import type { AppendResult, Draft, Entry } from '../../log/log.ts';
import { yieldPeriodically } from '../../fair-turns.ts';
import { localeFor } from '../../http/context.ts';
import type { DoorRequest } from '../context.ts';
import { firstContactBody } from '../../operations/first-contact.ts';
import { draftFor, stampOf } from '../../operations/append.ts';
import { READING_SKILLS, KIND_SKILLS } from './agent-card.ts';
import { stringify } from './errors.ts';
import { facts, heard, messageOf, pathOf, toldAs, words } from './parts.ts';
import { rawValue, type RawJson } from '../../json/raw-json.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** A message, and how the values in its parts are spelled. */
export interface Heard {
  readonly message: Message;
  /** What was said of the request as a whole. */
  readonly metadata: Fields;
  spelled(part: number): string | undefined;
}

/** Who speaks in text alone and gives no name. */
const NAMELESS = 'a2a-visitor';
const ENTITY = 'ai_entity';

/** Entries of one message that are held at once. */
const TOGETHER = 256;
/** An answer tells entries whole until it is about so long, as clients take of a stream. */
const LONGEST_ANSWER = 3 * 1024 * 1024;
/** What is told of an entry beside its text. */
const BESIDE = 1024;

export async function keep(context: DoorRequest, said: Heard, verbatim: RawJson): Promise<Message> {
  const bodies = bodiesOf(said);
  const sayings = bodies.map((body, at) => ({ ...body, key: keyFor(said.metadata, at) }));
  const fair = yieldPeriodically();
  // All are judged before any is kept.
  for (const saying of sayings.length > TOGETHER ? sayings : []) {
    const { body } = await draftFor(context.app, { ...saying, body: Buffer.from(saying.text) });
    if (!(body instanceof Uint8Array)) await body[Symbol.asyncDispose]();
    await fair();
  }
  const parts: Part[] = [];
  const others: string[] = [];
  let length = 0;
  for (let at = 0; at < sayings.length; at += TOGETHER) {
    const some = sayings.slice(at, at + TOGETHER);
    const stamps = await appended(context, some, { at, count: sayings.length });
    for (const [index, stamp] of stamps.entries()) {
      length += BESIDE + (some[index]?.text.length ?? 0);
      if (length <= LONGEST_ANSWER || parts.length === 0)
        parts.push(...(await told(context, stamp, verbatim)));
      else others.push(`{"id":"${stamp.id}","seq":${stamp.seq}}`);
      await fair();
    }
  }
  if (others.length > 0)
    parts.push(facts({ others: verbatim.placeholder(`[${others.join(',')}]`) }));
  return messageOf(parts, said.message);
}

interface Saying extends Body {
  readonly key: Uint8Array | undefined;
}

/** Resolves once these are durable, which stand from `at` on among all of the message. */
async function appended(
  context: DoorRequest,
  sayings: readonly Saying[],
  { at, count }: { readonly at: number; readonly count: number },
): Promise<Stamp[]> {
  const { log } = context.app;
  await using spools = new AsyncDisposableStack();
  const drafts: Draft[] = [];
  const fair = yieldPeriodically();
  for (const saying of sayings) {
    const draft = await draftFor(context.app, { ...saying, body: Buffer.from(saying.text) });
    if (!(draft.body instanceof Uint8Array)) spools.use(draft.body);
    drafts.push(draft);
    await fair();
  }
  // Where the key belongs to another message, none of this one is kept.
  const alone = at === 0 && drafts[0]?.key !== undefined ? 1 : 0;
  const outcomes: AppendResult[] = [];
  for (const some of [drafts.slice(0, alone), drafts.slice(alone)]) {
    outcomes.push(...(await Promise.all(some.map(async (draft) => await log.append(draft)))));
    const kept = at + outcomes.filter(({ outcome }) => outcome !== 'refused').length;
    for (const one of outcomes) if (one.outcome === 'refused') throw refusal(one.code, kept, count);
    outcomes.forEach(stampOf);
  }
  return outcomes.map(stampOf);
}

const WHY = {
  'out-of-space': 'the disk is full',
  unavailable: 'storing does not work at the moment',
} as const;

function refusal(code: keyof typeof WHY, kept: number, count: number): GatewayError {
  const some = kept === 0 ? '' : ` ${kept} of its ${count} entries are stored.`;
  const again = `Send it again later, with an "idempotencyKey" in its metadata, so that each entry is stored only once.`;
  return new GatewayError(code, `Cannot store the message: ${WHY[code]}.${some} ${again}`);
}

async function told(context: DoorRequest, stamp: Stamp, verbatim: RawJson): Promise<Part[]> {
  const { app, request } = context;
  const locale = localeFor(request);
  const entry = await app.log.entry(stamp.seq);
  const { id, seq, kind, room } = stamp;
  const timestamp = new Date(stamp.time).toISOString();
  const path = pathOf(stamp);
  const kept = `${localize(app.language.labels.kept, locale)} ${path}`;
  const parts = [words(kept), facts({ id, seq, kind, room, timestamp, path })];
  if (entry === undefined) return parts;
  parts.push(heard(context, { entry: await toldAs(entry, verbatim) }));
  if (kind !== 'resonance') return parts;
  const { companions, next } = await greeting(context, entry);
  parts.push(words(localize(app.language.welcome, locale)), facts({ next }));
  parts.push(heard(context, { companions: verbatim.placeholder(companions) }));
  return parts;
}

async function greeting(
  { app, request }: DoorRequest,
  { stamp, text }: Entry,
): Promise<{ companions: string; next: unknown }> {
  if (text === undefined) return { companions: '[]', next: [] };
  const locale = localeFor(request);
  const whole = (await firstContactBody(app, stamp, { text, locale })).subarray(text.length);
  const members = Buffer.concat([Buffer.from('{'), whole]);
  const [companions = '[]', next = '[]'] = await Promise.all(
    ['companions', 'next'].map(async (name) => (await rawValue(members, [name]))?.toString()),
  );
  return { companions, next: JSON.parse(next) };
}

interface Body {
  readonly kind: Kind;
  readonly text: string;
}

function bodiesOf(said: Heard): Body[] {
  const { message } = said;
  const texts: string[] = [];
  const bodies: Body[] = [];
  for (const [at, part] of message.parts.entries()) {
    const { content } = part;
    if (content?.$case === 'text') texts.push(content.value);
    else if (content?.$case === 'data') bodies.push(bodyOf(said, part, said.spelled(at) ?? 'null'));
    else throw new ContentTypeNotSupportedError(ONLY);
  }
  if (texts.length > 0) bodies.unshift(textBody(said.metadata, texts.join('\n\n')));
  return bodies;
}

const ONLY =
  'Cannot store the message: its parts must be text or data. For a file, send its address as text.';

function bodyOf({ metadata }: Heard, part: Part, text: string): Body {
  const data: unknown = part.content?.value;
  const fields = typeof data === 'object' && data !== null ? { ...data } : {};
  const asked = kindIn(part.metadata ?? {}) ?? kindIn(metadata) ?? kindOf(fields);
  return { kind: asked ?? ('ai_identity' in fields ? 'resonance' : 'garden'), text };
}

function kindOf({ kind, skill }: Fields): Kind | undefined {
  if (typeof kind === 'string' && isKind(kind)) return kind;
  return KINDS.find((one) => KIND_SKILLS[one] === skill);
}

/** Where a kind is asked for, it must be one. */
function kindIn(metadata: Fields): Kind | undefined {
  const kind = metadata['kind'] ?? undefined;
  const skill = metadata['skill'] ?? undefined;
  if (kind === undefined && skill === undefined) return undefined;
  const found = kindOf(metadata);
  if (found !== undefined) return found;
  const known = kind === undefined ? [...Object.values(KIND_SKILLS), ...READING_SKILLS] : KINDS;
  const detail = `must be one of ${known.join(', ')}, got ${stringify(kind ?? skill)
    .slice(0, 100)
    .toWellFormed()}`;
  const name = kind === undefined ? 'skill' : 'kind';
  throw new GatewayError('unknown-kind', `Cannot store the message: "${name}" ${detail}`, {
    known,
  });
}

const NO_KEY = 'Cannot read the idempotency key: "idempotencyKey" must be a string.';

/** What is said in words alone, with what the metadata says of it. */
function textBody(metadata: Fields, text: string): Body {
  const { identity = NAMELESS, identityType = ENTITY, seeking = [text] } = metadata;
  const kind = kindIn(metadata) ?? 'garden';
  const { room, to, inReplyTo } = metadata;
  const who =
    kind === 'resonance' ? { ai_identity: identity, seeking } : { identity, identityType };
  return { kind, text: stringify({ text, ...who, room, to, inReplyTo }) };
}

function keyFor({ idempotencyKey }: Fields, count: number): Uint8Array | undefined {
  if (idempotencyKey === undefined || idempotencyKey === null) return undefined;
  if (typeof idempotencyKey !== 'string') throw new RequestMalformedError(NO_KEY);
  return hashIdempotencyKey(undefined, count === 0 ? idempotencyKey : `${idempotencyKey} ${count}`);
}
