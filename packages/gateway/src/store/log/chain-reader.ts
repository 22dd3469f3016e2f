/** Prints the log with its links (PROTOCOL.md section 20.2): small entries many at a time. Nothing is parsed. */
import { GatewayError } from '@open-presence/protocol';

import { Turns } from '../../fair-turns.ts';
import type { ChainRange, LogRead, ReadPosition, Seq, TextRead } from '../../log/log.ts';
import { readable } from '../database.ts';
import type { RowReader } from './row-reader.ts';
import type { EntryRow } from './entry-row.ts';
import type { EntryReader } from './entry-reader.ts';

/** About how many bytes are printed at once, and how many entries at first and at most: large ones may follow. */
const WINDOW_SIZE = 128 * 1024;
const FIRST_WINDOW = 64;
const MAX_WINDOW = 128;

const FIRST_LINK_HEX = '0'.repeat(64);
const LINE_END = Buffer.from('}\n');

export class ChainReader {
  readonly #log: RowReader;
  readonly #entries: EntryReader;

  constructor(log: RowReader, entries: EntryReader) {
    this.#log = log;
    this.#entries = entries;
  }

  linkAt(seq: Seq): string {
    const link = seq === 0 ? FIRST_LINK_HEX : this.#row(seq)?.link.toString('hex');
    if (link === undefined) throw new GatewayError('unavailable', `Cannot read entry ${seq}.`);
    return link;
  }

  read(range: ChainRange, head: Seq): TextRead {
    const { after = 0, before = Infinity, limit = Infinity } = range;
    const state = { start: undefined as ReadPosition | undefined };
    const last = Math.min(head, before - 1, after + limit);
    const end = { last: last > after ? last : undefined, more: last < Math.min(head, before - 1) };
    const lines = this.#lines({ from: after + 1, to: last }, state, range.signal);
    const read = withEnd(lines, end);
    return Object.assign(read, { position: () => state.start });
  }

  /** `state.start` is undefined where an entry is given in pieces. */
  async *#lines(
    { from, to }: { readonly from: Seq; readonly to: Seq },
    state: { start: ReadPosition | undefined },
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Uint8Array, void> {
    const turns = new Turns(signal);
    let count = FIRST_WINDOW;
    for (let at = from; at <= to;) {
      signal?.throwIfAborted();
      const end = Math.min(to, at + count - 1);
      state.start = { last: at - 1, left: to - at + 1 };
      const lines = this.#smallLines(at, end);
      if (lines === undefined) {
        state.start = undefined;
        for (let seq = at; seq <= end; seq += 1) yield* this.#line(seq);
      } else {
        yield lines;
        // Whoever reads takes turns by itself.
        turns.startSlice();
        const fitting = Math.floor((count * WINDOW_SIZE) / lines.length);
        count = Math.max(1, Math.min(MAX_WINDOW, fitting));
      }
      at = end + 1;
      if (turns.isOver) await turns.next();
    }
  }

  /** Undefined if they have to be printed one by one. */
  #smallLines(from: Seq, to: Seq): Uint8Array | undefined {
    const rows = this.#log.smallRows({ from, to });
    if (rows === undefined) return undefined;
    const texts = rows.map(({ text }) => text);
    const openings = rows.map(openingOf);
    const size = texts.reduce((sum, { length }) => sum + length + LINE_END.length, 0);
    const lines = Buffer.allocUnsafe(openings.reduce((sum, { length }) => sum + length, size));
    let at = 0;
    for (const [index, text] of texts.entries()) {
      at += lines.write(openings[index] ?? '', at, 'latin1');
      lines.set(text, at);
      at += text.length;
      lines.set(LINE_END, at);
      at += LINE_END.length;
    }
    return lines;
  }

  /** Nothing if the entry cannot be read. */
  async *#line(seq: Seq): AsyncGenerator<Uint8Array, void> {
    const entry = await this.#entries.exactEntry(seq);
    const row = this.#row(seq);
    if (entry === undefined || row === undefined) return;
    if ((entry.withheld === undefined) !== (row.withheld === undefined)) {
      // It was withheld in between.
      yield* this.#line(seq);
      return;
    }
    yield Buffer.from(openingOf(row));
    yield* entry.chunks();
    yield LINE_END;
  }

  #row(seq: Seq): EntryRow | undefined {
    return readable(() => this.#log.entry(seq));
  }
}

async function* withEnd(
  lines: AsyncGenerator<Uint8Array, void>,
  end: { readonly last: Seq | undefined; readonly more: boolean },
): LogRead<Uint8Array> {
  yield* lines;
  return end;
}

/** The line up to the entry. */
function openingOf({ seq, link, salt, digest, keyHash, thread }: EntryRow): string {
  const proof =
    digest === undefined
      ? `"salt":"${salt.toString('hex')}"`
      : `"digest":"${Buffer.from(digest).toString('hex')}"${thread === seq ? '' : `,"thread":"${thread.toString(16).padStart(16, '0')}"`}`;
  const key = keyHash === undefined ? '' : `,"key":"${Buffer.from(keyHash).toString('hex')}"`;
  return `{"link":"${link.toString('hex')}",${proof}${key},"entry":`;
}
