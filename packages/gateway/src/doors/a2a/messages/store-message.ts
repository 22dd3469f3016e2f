/** Stores what a message contributes, and answers with what was stored (PROTOCOL.md section 19.3). */
import type { Message, Part } from '@a2a-js/sdk';
import { entryPath, GatewayError, type EntryMetadata } from '@open-presence/protocol';

import { yieldPeriodically } from '../../../fair-turns.ts';
import { SMALL_BODY_SIZE } from '../../../intake/draft.ts';
import type { ParsedDraft } from '../../../intake/body-reader.ts';
import { portableEntry } from '../../../json/portable-entry.ts';
import type { RawJson } from '../../../json/raw-json.ts';
import type { AppendOutcome, Entry } from '../../../log/log.ts';
import {
  appendOnce,
  draftFor,
  metadataOf,
  readOnlyError,
} from '../../../operations/contribution/append.ts';
import { notesOn } from '../../../operations/contribution/draft-notes.ts';
import {
  companionsFor,
  nextActions,
  type NextAction,
} from '../../../operations/contribution/first-contact.ts';
import { localizationFor, type DoorRequest } from '../../context.ts';
import { KIND_SKILLS, SKILLS } from '../skills.ts';
import { contributionsOf, isUnsignedText, type MessageContribution } from './contributions.ts';
import { agentMessage, dataPart, entryPlaceholder, textPart, visitorPart } from './parts.ts';
import type { ReceivedMessage } from './received-message.ts';

/** Entries of one message that are in memory as drafts at once. */
const MAX_BATCH = 256;
/** Their bytes, in about: a batch ends with the entry that reaches them. */
const MAX_BATCH_SIZE = 1024 * 1024;
/**
 * In UTF-16 code units. An answer has whole entries up to this length, and only ids after that: clients limit
 * what they read.
 */
const MAX_ANSWER_LENGTH = 3 * 1024 * 1024;
/** About what the answer has of an entry beside its text. */
const ENTRY_OVERHEAD = 1024;

type DraftReader = (contribution: MessageContribution) => Promise<ParsedDraft>;

export async function storeMessage(
  context: DoorRequest,
  received: ReceivedMessage,
  rawJson: RawJson,
): Promise<Message> {
  const { large } = received;
  const contributions = contributionsOf(received, context.request);
  const count = contributions.length;
  const draftOf: DraftReader = ({ kind, json, key }) =>
    draftFor(context.app, { kind, body: large?.expand(json) ?? Buffer.from(json), key });
  const sizeOf = ({ json }: MessageContribution): number =>
    large?.expandedSize(json) ?? json.length;
  const batches = batchesOf(contributions, sizeOf);
  if (batches.length > 1) await validateAll(contributions, draftOf);
  const yieldTurn = yieldPeriodically();
  const parts: Part[] = [];
  const omitted: string[] = [];
  let length = 0;
  let start = 0;
  for (const batch of batches) {
    const stored = await appendBatch(context, { contributions: batch, draftOf, start, count });
    for (const [index, entry] of stored.entries()) {
      const contribution = batch[index];
      length += ENTRY_OVERHEAD + (contribution === undefined ? 0 : sizeOf(contribution));
      if (length <= MAX_ANSWER_LENGTH || parts.length === 0) {
        parts.push(...(await storedParts(context, entry, rawJson)));
      } else omitted.push(`{"id":"${entry.metadata.id}","seq":${entry.metadata.seq}}`);
      await yieldTurn();
    }
    start += batch.length;
  }
  // After the text that says where the entry is.
  if (isUnsignedText(received)) parts.splice(1, 0, unsignedPart(context));
  if (omitted.length > 0) {
    parts.push(dataPart({ others: rawJson.placeholder(`[${omitted.join(',')}]`) }));
  }
  return agentMessage(parts, received.message.contextId);
}

function batchesOf(
  contributions: readonly MessageContribution[],
  sizeOf: (contribution: MessageContribution) => number,
): MessageContribution[][] {
  let batch: MessageContribution[] = [];
  let size = 0;
  const batches = [batch];
  for (const contribution of contributions) {
    if (batch.length === MAX_BATCH || size >= MAX_BATCH_SIZE) {
      batch = [];
      size = 0;
      batches.push(batch);
    }
    batch.push(contribution);
    // A larger body is not in memory.
    size += Math.min(sizeOf(contribution), SMALL_BODY_SIZE);
  }
  return batches;
}

/** Throws for the first invalid entry, so that a message of several batches is stored whole or not at all. */
async function validateAll(
  contributions: readonly MessageContribution[],
  draftOf: DraftReader,
): Promise<void> {
  const yieldTurn = yieldPeriodically();
  for (const contribution of contributions) {
    const { body } = await draftOf(contribution);
    if (!(body instanceof Uint8Array)) await body[Symbol.asyncDispose]();
    await yieldTurn();
  }
}

interface StoredEntry {
  readonly metadata: EntryMetadata;
  readonly notes: readonly string[];
}

/** Some of the entries of a message. */
interface Batch {
  readonly contributions: readonly MessageContribution[];
  readonly draftOf: DraftReader;
  /** How many come before them. */
  readonly start: number;
  /** How many the message has. */
  readonly count: number;
}

/** Resolves once the batch is durable. */
async function appendBatch(
  context: DoorRequest,
  { contributions, draftOf, start, count }: Batch,
): Promise<StoredEntry[]> {
  const { log } = context.app;
  await using spools = new AsyncDisposableStack();
  const drafts: ParsedDraft[] = [];
  const yieldTurn = yieldPeriodically();
  for (const contribution of contributions) {
    const draft = await draftOf(contribution);
    if (!(draft.body instanceof Uint8Array)) spools.use(draft.body);
    drafts.push(draft);
    await yieldTurn();
  }
  // While the keys are those of a message that was sent before, one after another: if the key of another entry is
  // among them, nothing is stored. What is new comes after those.
  const isKeyed = drafts[0]?.key !== undefined;
  const results: AppendOutcome[] = [];
  for (let isAlone = isKeyed; results.length < drafts.length;) {
    const group = drafts.slice(results.length, isAlone ? results.length + 1 : drafts.length);
    results.push(...(await Promise.all(group.map(async (draft) => await appendOnce(log, draft)))));
    assertAppended(results, { start, count });
    isAlone = isKeyed && results.at(-1)?.outcome === 'repeated';
  }
  return await Promise.all(
    results.map(async (result, index) => {
      const draft = drafts[index];
      const notes = draft === undefined ? [] : await notesOn(log, draft);
      return { metadata: metadataOf(result), notes };
    }),
  );
}

/** Throws for the first draft that was not stored. */
function assertAppended(
  results: readonly AppendOutcome[],
  { start, count }: Pick<Batch, 'start' | 'count'>,
): void {
  const stored = start + results.filter(({ outcome }) => outcome !== 'refused').length;
  for (const result of results) {
    if (result.outcome !== 'refused') continue;
    if (result.reason !== undefined && stored === 0) throw readOnlyError(result.reason);
    throw refusalOf(result.code, stored, count);
  }
  results.forEach(metadataOf);
}

const REASONS = {
  'out-of-space': 'the disk is full',
  unavailable: 'storing does not work at the moment',
} as const;

function refusalOf(code: keyof typeof REASONS, stored: number, count: number): GatewayError {
  const some = stored === 0 ? '' : ` ${stored} of its ${count} entries are stored.`;
  const again = `Send it again later, with an "idempotencyKey" in its metadata, so that each entry is stored only once.`;
  return new GatewayError(code, `Cannot store the message: ${REASONS[code]}.${some} ${again}`);
}

/** What the answer has of a stored entry. */
async function storedParts(
  context: DoorRequest,
  { metadata, notes }: StoredEntry,
  rawJson: RawJson,
): Promise<Part[]> {
  const { language, text } = localizationFor(context);
  const { id, seq, kind, room } = metadata;
  const timestamp = new Date(metadata.time).toISOString();
  const path = entryPath(id);
  const own = { id, seq, kind, room, timestamp, path };
  const exact = await context.app.log.entry(seq, 'exact');
  const entry = exact && portableEntry(exact);
  const { kept, withheld } = language.labels;
  // Stored before: this is a retry.
  if (entry?.withheld !== undefined) {
    const note = `${text(withheld)}: ${entry.withheld.reason}\n${path}`;
    const current = { entry: await entryPlaceholder(entry, rawJson) };
    return [textPart(note), dataPart(own), visitorPart(context, current)];
  }
  const note = `${text(kept)} ${path}`;
  const members = notes.length === 0 ? own : { ...own, notes };
  const parts = [textPart([note, ...notes].join('\n')), dataPart(members)];
  if (exact === undefined || entry === undefined) return parts;
  parts.push(visitorPart(context, { entry: await entryPlaceholder(entry, rawJson) }));
  if (kind === 'resonance') parts.push(...(await welcomeParts(context, exact, rawJson)));
  return parts;
}

/** Says what became of a text without skill and author, how to sign, and how to read. */
function unsignedPart(context: DoorRequest): Part {
  const { language, text } = localizationFor(context);
  return textPart(`${text(language.labels.unsigned)} ${SKILLS.join(', ')}.`);
}

const NEXT_SKILLS = {
  ...KIND_SKILLS,
  read: 'read',
  'catch-up': 'catch-up',
  presence: 'who-is-here',
} as const;

/** A step as the data of a message. */
function nextData({ title, action, values }: NextAction): object {
  return { title, data: { skill: NEXT_SKILLS[action], ...values } };
}

async function welcomeParts(context: DoorRequest, entry: Entry, rawJson: RawJson): Promise<Part[]> {
  const { language, locale, text } = localizationFor(context);
  const isSmall = entry.text !== undefined;
  const companions = isSmall ? await companionsFor(context.app, entry.metadata, entry.text) : [];
  return [
    textPart(text(language.welcome)),
    dataPart({ next: nextActions(language, locale, entry.text).map(nextData) }),
    visitorPart(context, {
      companions: companions.map((summary) => rawJson.placeholder(Buffer.from(summary).toString())),
    }),
  ];
}
