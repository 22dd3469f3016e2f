/**
 * The thread of the words: follows the log a little behind, many entries at a time, and answers the
 * other threads what they look for.
 */
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';

import { GatewayError } from '@open-presence/protocol';

import type { DataPaths } from '../schema.ts';
import type { Page } from '../index/seq-finder.ts';
import { Shared } from '../shared.ts';
import { type BestAsked, type BestFound, BestReading } from './best.ts';
import { Finder, type PageAsked } from './finder.ts';
import { errcodeOf, isSpoiled, removeWords, WordsIndex } from './word-index.ts';

export interface WordsStart {
  readonly places: DataPaths;
  readonly shared: SharedArrayBuffer;
}
/** A line to a further thread that asks. */
export type ToWords = 'close' | MessagePort;
/** Or why words cannot be read now; undefined when they can again. */
export type FromWords = 'ready' | { readonly failure: string | undefined };

export interface Question {
  readonly id: number;
  readonly page?: PageAsked;
  readonly best?: BestStep;
}
/** The next of a reading; with `asked`, its first. */
interface BestStep {
  readonly reading: number;
  readonly asked: BestAsked | undefined;
}
/** Or that a reading has ended. */
export type Asking = Question | { readonly ended: number };
export interface Answer {
  readonly id: number;
  readonly page?: Page;
  readonly best?: BestFound;
  /** Why there is neither: the disk refuses. */
  readonly failed?: string;
}

/** How long entries gather before they are read together. */
const GATHER_MS = 250;
const RETRY_MS = 1000;
/** For how long others have the processor while they speak, for each stretch of our work. */
const GIVEN_WAY = 4;
/** A large entry is one long stretch: what comes behind it is not kept waiting for that. */
const LONGEST_WAY_MS = 2000;
/** As FTS5 says that its tables are broken. */
const CORRUPT_VTAB = 267;

const start = workerData as WordsStart;
const port = parentPort;
if (port === null) throw new Error('Words are looked after in a thread of their own.');
const shared = new Shared(start.shared);
const ended = new AbortController();
const { signal } = ended;
let open: { readonly index: WordsIndex; readonly finder: Finder } | undefined;
const lines = new Map<MessagePort, Map<number, BestReading>>();
/** Why words cannot be read, as the operator was told. */
let fails: string | undefined;
/** How somebody who asked found that the file is spoiled. */
let spoiled: Error | undefined;

port.on('message', (message: ToWords) => {
  if (message === 'close') {
    ended.abort();
    shared.stir();
    return;
  }
  const readings = new Map<number, BestReading>();
  lines.set(message, readings);
  message.on('message', (asking: Asking) => {
    if ('ended' in asking) end(readings, asking.ended);
    else void answer(message, asking);
  });
  message.on('close', () => {
    for (const reading of readings.keys()) end(readings, reading);
    lines.delete(message);
  });
});
port.postMessage('ready' satisfies FromWords);
await follow();
close();
for (const line of lines.keys()) line.close();
port.close();

async function follow(): Promise<void> {
  while (!signal.aborted) {
    try {
      await advance();
      tell(undefined);
    } catch (error) {
      if (signal.aborted) return;
      tell(String(error));
      if (isSpoiled(error)) {
        close();
        removeWords(start.places);
      }
      await pause(RETRY_MS, undefined, { signal }).catch(() => {});
    }
  }
}

function tell(how: string | undefined): void {
  if (how !== fails) port?.postMessage({ failure: how } satisfies FromWords);
  fails = how;
}

async function advance(): Promise<void> {
  if (spoiled !== undefined) {
    const error = spoiled;
    spoiled = undefined;
    throw error;
  }
  if (open === undefined) {
    const index = new WordsIndex(start.places, shared);
    try {
      open = { index, finder: new Finder(start.places, shared) };
    } catch (error) {
      index.close();
      throw error;
    }
  }
  const { searched, head } = shared;
  if (searched >= head) {
    await shared.moved(head);
    await pause(GATHER_MS, undefined, { signal });
    return;
  }
  const began = performance.now();
  await open.index.step(signal);
  // Whoever asks has a turn between; while others speak, so has what keeps their words.
  if (shared.head === head) await turn();
  else {
    const given = Math.min(LONGEST_WAY_MS, GIVEN_WAY * (performance.now() - began));
    await pause(given, undefined, { signal });
  }
}

async function answer(line: MessagePort, { id, page, best }: Question): Promise<void> {
  const give = (found: Omit<Answer, 'id'>): void =>
    line.postMessage({ id, ...found } satisfies Answer);
  const asked = open;
  try {
    if (asked === undefined) throw new Error('It could not be opened.');
    const { finder } = asked;
    if (page !== undefined) give({ page: finder.page(page) });
    if (best !== undefined) give({ best: await bestOf(finder, line, best) });
  } catch (error) {
    give({ failed: String(error) });
    // What was closed meanwhile, or is read anew, was told already.
    if (asked !== open || open === undefined || !lines.has(line)) return;
    if (error instanceof GatewayError) return;
    // Filters are looked up in other files.
    const alone = (page ?? best?.asked)?.facets.length === 0;
    if (isSpoiled(error) && (alone || errcodeOf(error) === CORRUPT_VTAB)) {
      spoiled = error as Error;
      shared.stir();
    } else tell(String(error));
  }
}

async function bestOf(finder: Finder, line: MessagePort, step: BestStep): Promise<BestFound> {
  const readings = lines.get(line);
  if (step.asked !== undefined) readings?.set(step.reading, new BestReading(finder, step.asked));
  const reading = readings?.get(step.reading);
  if (reading === undefined) throw new Error('It has ended.');
  return await reading.next();
}

function end(readings: Map<number, BestReading>, reading: number): void {
  readings.get(reading)?.[Symbol.dispose]();
  readings.delete(reading);
}

function close(): void {
  open?.finder.close();
  open?.index.close();
  open = undefined;
}
