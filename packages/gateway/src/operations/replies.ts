/**
 * What an entry has to do with others: the entry that begins its thread, and how many answer it
 * (PROTOCOL.md section 9). Counted from the index where it is asked for, never stored.
 */
import { entryHead, GatewayError, type EntryMetadata } from '@open-presence/protocol';

import { facet } from '../log/facet.ts';
import type { Entry, Log, ReadEnd, ReadPosition, Selection, Seq, TextRead } from '../log/log.ts';

/** How an entry is asked for with these members. */
const WITH_REPLIES = 'replies';

/** Throws `invalid-parameter` for anything else than `replies`. */
export function wantsReplies(parameters: URLSearchParams): boolean {
  const wanted = parameters.getAll('with');
  for (const value of wanted) {
    if (value === WITH_REPLIES) continue;
    const detail = '"with" must be "replies"';
    throw new GatewayError('invalid-parameter', `Cannot read this: ${detail}.`, {
      faults: [{ parameter: 'with', detail }],
    });
  }
  return wanted.length > 0;
}

/** How many entries up to `head` name this one in `inReplyTo`. */
export async function countReplies(
  log: Log,
  { seq, id }: Pick<EntryMetadata, 'seq' | 'id'>,
  head: Seq,
  signal?: AbortSignal,
): Promise<number> {
  const bounds = [seq + 1, head + 1];
  const [count = 0] = await log.countBetween(facet('inReplyTo', id), bounds, signal);
  return count;
}

/** Adds these members to entries. Knows the ids of the threads that it has met. */
export class ReplyCounter {
  readonly #log: Log;
  readonly #signal: AbortSignal | undefined;
  readonly #roots = new Map<Seq, string>();

  constructor(log: Log, signal?: AbortSignal) {
    this.#log = log;
    this.#signal = signal;
  }

  /** The id of the entry that begins the thread. */
  async #root({ thread, metadata }: Pick<Entry, 'thread' | 'metadata'>): Promise<string> {
    if (thread === metadata.seq) return metadata.id;
    const known = this.#roots.get(thread);
    if (known !== undefined) return known;
    const root = (await this.#log.entry(thread))?.metadata.id ?? metadata.id;
    this.#roots.set(thread, root);
    return root;
  }

  /**
   * The text with the members `root` and `replies` after the gateway's own. Undefined if it is too large for
   * memory, or if the visitor's text is gone.
   */
  async count(
    entry: Entry,
  ): Promise<{ readonly text: Buffer; readonly replies: number } | undefined> {
    const { text, metadata, withheld } = entry;
    if (text === undefined || withheld !== undefined) return undefined;
    const replies = await countReplies(this.#log, metadata, this.#log.head(), this.#signal);
    const members = `,"root":"${await this.#root(entry)}","replies":${replies}`;
    const end = entryHead(metadata).length;
    const parts = [text.subarray(0, end), Buffer.from(members), text.subarray(end)];
    return { text: Buffer.concat(parts), replies };
  }
}

/** As `Log.readText`, with these members where entries have them. Cannot be resumed. */
export function readTextWithReplies(log: Log, selection: Selection, joiner: string): TextRead {
  const entries = log.readEntries(selection);
  const counter = new ReplyCounter(log, selection.signal);
  const read = async function* (): AsyncGenerator<Uint8Array, ReadEnd, undefined> {
    let isFirst = true;
    for (;;) {
      const step = await entries.next();
      if (step.done === true) return step.value;
      if (!isFirst) yield Buffer.from(joiner);
      isFirst = false;
      const counted = await counter.count(step.value);
      if (counted === undefined) yield* step.value.chunks();
      else yield counted.text;
    }
  };
  return Object.assign(read(), { position: (): ReadPosition | undefined => undefined });
}
