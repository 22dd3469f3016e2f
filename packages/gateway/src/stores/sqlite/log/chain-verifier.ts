import type { Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { FIRST_LINK, linkOf } from './hash-chain.ts';
import { type EntryRow, headOf, readBody, type StoredBody } from './stored-entry.ts';

export interface LogFault {
  /** Undefined where it is unknown which entry has the fault. */
  readonly seq: Seq | undefined;
  readonly description: string;
}

/** Verifies entries in the order of the log. */
export class ChainVerifier {
  /** The expected seq of the next entry. */
  next: Seq = 1;
  entries = 0;
  bytes = 0;
  link: Uint8Array = FIRST_LINK;
  /** Possible previous links of the next entry; empty where they are unknown. */
  #previousLinks: readonly Uint8Array[] = [FIRST_LINK];
  #time = 0;
  readonly #paths: DataPaths;

  constructor(paths: DataPaths) {
    this.#paths = paths;
  }

  async verify(row: EntryRow, signal: AbortSignal | undefined): Promise<LogFault[]> {
    const { seq, text } = row;
    const faults: LogFault[] = [];
    if (seq > this.next) {
      faults.push({ seq: this.next, description: missingRange(this.next, seq - 1) });
      this.#previousLinks = [];
    }
    const expectedHead = headOf(row);
    for (const description of this.#headFaults(row, expectedHead))
      faults.push({ seq, description });
    const head = expectedHead ?? text.toString('latin1', 0, row.head);
    const body = await readBody(this.#paths, row, { headSize: head.length, signal });
    const description = typeof body === 'string' ? body : this.#bodyFault(row, head, body);
    if (description !== undefined) faults.push({ seq, description });
    if (typeof body === 'string') this.#previousLinks = [row.link];
    this.link = row.link;
    this.next = Math.max(seq + 1, 1);
    this.entries += 1;
    this.bytes += typeof body === 'string' ? row.size : body.size;
    return faults;
  }

  *#headFaults({ seq, time, head }: EntryRow, expected: string | undefined): Generator<string> {
    if (expected === undefined) {
      yield 'has other own members in its text than in its columns';
      return;
    }
    if (seq < 1) yield 'has no place in a log';
    if (head !== expected.length) yield `has own members of ${expected.length} bytes, not ${head}`;
    if (time < this.#time) yield 'is of an earlier time than an entry before it';
    else this.#time = time;
  }

  #bodyFault(
    row: EntryRow,
    head: string,
    { digest, size, framed }: StoredBody,
  ): string | undefined {
    const headBytes = Buffer.from(head);
    const links = this.#previousLinks.map((previous) => linkOf(previous, headBytes, digest));
    const holds = links.length === 0 || links.some((link) => Buffer.compare(link, row.link) === 0);
    // If it was the link that changed, the next entry is linked to the original one.
    this.#previousLinks = holds ? [row.link] : [row.link, ...links];
    if (size !== row.size) return `has ${size} bytes, not ${row.size}`;
    if (!framed) return 'has a text without the form of an entry';
    return holds ? undefined : 'is not what its link was made of: it has changed, or the link';
  }
}

function missingRange(first: Seq, last: Seq): string {
  return first === last ? 'is missing' : `is missing, and so are all up to ${last}`;
}
