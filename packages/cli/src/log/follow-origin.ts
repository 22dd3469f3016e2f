/**
 * Continues a copy of another gateway's log and verifies each link, as long as the origin has the log
 * that was copied. Copied entries stay good whatever happens to the origin.
 *
 * Invariant: A mirror has the same log as its origin, and no entry whose link does not follow.
 * Test: `test/mirror/mirror.test.ts` “has the same log through kills of both while others write”
 *   “stops where the log of its origin was rewritten, and serves its copy on” “names the entry that
 *   was changed at its origin by hand, and takes nothing from there on”
 */
import { setTimeout as sleep } from 'node:timers/promises';

import {
  type Checkpoint,
  type Gateway,
  PresenceError,
  type Withholding,
} from '@open-presence/client';
import {
  type ContinuedLog,
  CopyRefusal,
  type LogLine,
  NotALog,
  readLogLines,
} from '@open-presence/gateway';

/** A gateway, and the copy of its log. */
export interface CopiedOrigin {
  readonly gateway: Gateway;
  readonly copy: ContinuedLog;
  readonly signal: AbortSignal;
}

export interface FollowedOrigin extends CopiedOrigin {
  /** Whether to wait for new entries once everything is copied. */
  readonly live: boolean;
  /** `head`: of the origin. */
  readonly onProgress: (head: number) => void;
  /** Called with the error before each pause, and with undefined when the origin is followed again. */
  readonly onTrouble: (error: Error | undefined) => void;
}

/** The origin no longer has the log that was copied. */
export class OriginChanged extends Error {
  /** The first entry that differs, if an entry does. */
  readonly seq: number | undefined;

  constructor(message: string, seq: number | undefined, cause: unknown) {
    super(message, { cause });
    this.seq = seq;
  }
}

/** How often the mirror asks the origin for its head. */
const WATCH_MS = 10_000;
/** Entries that arrive within this time are stored together. */
const GATHER_MS = 20;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Resolves when the signal is aborted or, without `live`, everything is copied. Tries again after a pause
 * if the origin cannot be reached, or the disk here is full. Throws any
 * other error: `OriginChanged` if the origin is its cause. The copied entries stay as they are.
 */
export async function followOrigin(origin: FollowedOrigin): Promise<void> {
  const { copy, signal, onTrouble, live } = origin;
  using _watching = live ? watchOrigin(origin) : undefined;
  for (let pause = FIRST_PAUSE_MS; !signal.aborted;) {
    const before = copy.head();
    try {
      await copyOnce(origin);
      if (live) continue;
      await new OriginWithholdings(origin).step();
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Error)) throw error;
      if (!mayPass(error)) throw changed(error);
      if (copy.head() > before) pause = FIRST_PAUSE_MS;
      onTrouble(error);
      await sleep(pause, undefined, { signal }).catch(() => {});
      pause = Math.min(LONGEST_PAUSE_MS, 2 * pause);
    }
  }
}

function watchOrigin(origin: FollowedOrigin): Disposable {
  const { gateway, onProgress, onTrouble } = origin;
  const end = new AbortController();
  const signal = AbortSignal.any([origin.signal, end.signal]);
  const withholdings = new OriginWithholdings({ ...origin, signal });
  const watch = async (): Promise<void> => {
    await sleep(WATCH_MS, undefined, { signal }).catch(() => {});
    while (!signal.aborted) {
      try {
        const { head } = await gateway.checkpoint({ signal });
        onProgress(head);
        await withholdings.step();
        onTrouble(undefined);
      } catch (error) {
        if (error instanceof Error && !signal.aborted) onTrouble(error);
      }
      await sleep(WATCH_MS, undefined, { signal }).catch(() => {});
    }
  };
  void watch();
  return { [Symbol.dispose]: () => end.abort() };
}

async function copyOnce({
  gateway,
  copy,
  signal,
  live,
  onProgress,
  onTrouble,
}: FollowedOrigin): Promise<void> {
  const from = copy.checkpoint();
  const end = new AbortController();
  const { head } = await gateway.checkpoint({ signal });
  onProgress(head);
  onTrouble(undefined);
  const ended = AbortSignal.any([signal, end.signal]);
  const lines = linesAfter(gateway, from.head, { live, signal: ended });
  try {
    for (let next = lines.next(), isStored = true; ;) {
      const step = isStored ? await next : await within(next, GATHER_MS);
      if (step === undefined) {
        await copy.entries.flush();
        onProgress(copy.head());
        isStored = true;
        continue;
      }
      if (step.done === true) return;
      onTrouble(undefined);
      if ('log' in step.value) assertSame(step.value, from);
      else await copy.entries.add(step.value);
      isStored = false;
      next = lines.next();
      // It may fail while nobody waits for it.
      next.catch(() => {});
    }
  } finally {
    // Without this, `return` would wait for the next entry.
    end.abort();
    await lines.return().catch(() => {});
    // The entries that were verified before a fault are good.
    await copy.entries.flush();
  }
}

/** The position after which the lines begin, then the lines of now, then those of the stream. */
async function* linesAfter(
  gateway: Gateway,
  after: number,
  { live, signal }: Pick<FollowedOrigin, 'live' | 'signal'>,
): AsyncGenerator<Checkpoint | readonly LogLine[], void> {
  const { checkpoint, batches } = await readLogLines(gateway.logBytes({ after, signal }));
  yield checkpoint;
  let last = after;
  for await (const lines of batches) {
    yield lines;
    last = lines.at(-1)?.seq ?? last;
  }
  if (live) yield* (await readLogLines(gateway.logBytes({ after: last, live, signal }))).batches;
}

function assertSame({ log, head, link }: Checkpoint, from: Checkpoint): void {
  if (log === from.log && head === from.head && link === from.link) return;
  const message =
    log === from.log
      ? `The origin ends before entry ${from.head}, or has another one there: it was restored or rewritten.`
      : `The origin has the log "${log}" now, and "${from.log}" was copied.`;
  throw new OriginChanged(message, from.head, undefined);
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const end = new AbortController();
  try {
    const timeout = sleep(ms, undefined, { signal: end.signal });
    return await Promise.race([promise, timeout]);
  } finally {
    end.abort();
  }
}

function mayPass(error: Error): boolean {
  if (error instanceof PresenceError) return error.isTemporary || error.code === 'unreachable';
  return 'code' in error && ['out-of-space', 'unavailable'].includes(String(error.code));
}

function changed(error: Error): Error {
  if (error instanceof CopyRefusal) return new OriginChanged(error.message, error.seq, error);
  return error instanceof PresenceError || error instanceof NotALog
    ? new OriginChanged(error.message, undefined, error)
    : error;
}

type WithholdingCopy = Parameters<ContinuedLog['entries']['withhold']>[0][number];

/** How many entries are withheld in one transaction. */
const BATCH = 4096;
/** Characters of the reasons in one transaction: long reasons end a batch early. */
const BATCH_CHARACTERS = 1024 * 1024;

/** A restored log may have kept its name, and gives the numbers of its lost cases to others. */
const OTHER_CASES = 'the origin was restored, and lists other cases of what it has withheld.';

/**
 * Withholds in a copy what its origin withholds or hides, and shows what the origin shows again. A copy
 * does not keep the text of hidden entries: it reads it from the origin when they are shown again.
 */
export class OriginWithholdings {
  readonly #origin: Pick<CopiedOrigin, 'gateway' | 'copy' | 'signal'>;
  /** The origin's newest case that the copy has repeated. */
  #last: Pick<Withholding, 'number' | 'seq' | 'at'> = { number: 0, seq: 0, at: '' };

  constructor(origin: Pick<CopiedOrigin, 'gateway' | 'copy' | 'signal'>) {
    this.#origin = origin;
  }

  /** Repeats the origin's new cases. Resolves when the copy has erased the text of the entries. */
  async step(): Promise<void> {
    const { gateway, copy, signal } = this.#origin;
    // By entry: only its last case counts.
    let batch = new Map<number, WithholdingCopy>();
    const known = this.#last;
    let last = known;
    let characters = 0;
    const withhold = async (): Promise<void> => {
      const taken = [...batch.values()].filter(({ state }) => state !== 'shown');
      if (taken.length > 0) await copy.entries.withhold(taken);
      for (const item of batch.values()) if (item.state === 'shown') await this.#show(item);
      this.#last = last;
      batch = new Map();
      characters = 0;
    };
    try {
      const after = Math.max(0, known.number - 1);
      for await (const found of gateway.withholdings({ after, signal })) {
        const { number, seq, at, reason } = found;
        if (number === known.number && seq === known.seq && at === known.at) continue;
        if (number <= known.number) throw new PresenceError('invalid-parameter', OTHER_CASES);
        // The entry may be arriving in its earlier form. The next step repeats the case.
        if (seq > copy.head()) break;
        const state = found.state === 'shown' ? 'shown' : 'withheld';
        batch.set(seq, { seq, time: Date.parse(at), reason, state });
        last = { number, seq, at };
        characters += reason.length;
        if (batch.size === BATCH || characters > BATCH_CHARACTERS) await withhold();
      }
    } catch (error) {
      // The next step repeats all cases.
      if (error instanceof PresenceError && error.code === 'invalid-parameter')
        this.#last = { number: 0, seq: 0, at: '' };
      // An older gateway cannot withhold.
      if (!(error instanceof PresenceError) || error.status !== 404) throw error;
    }
    await withhold();
  }

  async #show(item: WithholdingCopy): Promise<void> {
    const { gateway, copy, signal } = this.#origin;
    const { seq } = item;
    if (!copy.entries.isWithheld(seq)) return;
    const bytes = gateway.logBytes({ after: seq - 1, limit: 1, signal });
    for await (const [line] of (await readLogLines(bytes)).batches)
      if (line !== undefined) await copy.entries.show(line, item);
  }
}
