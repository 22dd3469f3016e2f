/** Verifies entries in the order of the log: their rows, and the files of large bodies. */
import { entryHead, entryId, SALTS, seqOfId } from '@open-presence/protocol';

import type { Seq } from '../../log/log.ts';
import { assertStorageFault } from '../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import { digestOfFile, largeChunks } from '../large/large-files.ts';
import { digestOf, FIRST_LINK, linkOf, sha256 } from './chain.ts';
import type { EntryRow } from './entry-row.ts';
import { isMissing } from '../checked-file.ts';

const COMMA = 0x2c;
const BRACE = 0x7d;
const MAX_TIME = 8.64e15;

interface StoredBody {
  readonly digest: Uint8Array;
  /** Bytes of the whole entry. */
  readonly size: number;
  /** Whether they are between a comma and a closing brace. */
  readonly framed: boolean;
}

export interface LogFault {
  /** Undefined where it is unknown which entry has the fault. */
  readonly seq: Seq | undefined;
  readonly description: string;
}

export class ChainVerifier {
  /** The expected seq of the next entry. */
  next: Seq = 1;
  entries = 0;
  withheld = 0;
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
    const body = await readBody(this.#paths, row, head.length, signal);
    const description = typeof body === 'string' ? body : this.#bodyFault(row, head, body);
    if (description !== undefined) faults.push({ seq, description });
    if (typeof body === 'string') this.#previousLinks = [row.link];
    this.link = row.link;
    this.next = Math.max(seq + 1, 1);
    this.entries += 1;
    if (row.withheld !== undefined) this.withheld += 1;
    this.bytes += typeof body === 'string' ? row.size : body.size;
    return faults;
  }

  /** To be called in place of `verify` for an entry that cannot be read. */
  skip(seq: Seq): void {
    this.#previousLinks = [];
    this.next = seq + 1;
  }

  *#headFaults({ seq, time }: EntryRow, expected: string | undefined): Generator<string> {
    if (expected === undefined) {
      yield 'has other own members in its text than in its columns';
      return;
    }
    if (seq < 1) yield 'has no place in a log';
    if (time < this.#time) yield 'is of an earlier time than an entry before it';
    else this.#time = time;
  }

  #bodyFault(row: EntryRow, head: string, body: StoredBody): string | undefined {
    const { size, framed } = body;
    const { salt, keyHash, digest = digestOf(salt, body.digest) } = row;
    const parts = { head: Buffer.from(head), digest, keyHash };
    const links = this.#previousLinks.map((previous) => linkOf(previous, parts));
    const holds = links.length === 0 || links.some((link) => Buffer.compare(link, row.link) === 0);
    // If only the link changed, the next entry still follows from the original link.
    this.#previousLinks = holds ? [row.link] : [row.link, ...links];
    if (size !== row.size) return `has ${size} bytes, not ${row.size}`;
    if (!framed) return 'has a text without the form of an entry';
    return holds ? undefined : 'is not what its link was made of: it has changed, or the link';
  }
}

function missingRange(first: Seq, last: Seq): string {
  return first === last ? 'is missing' : `is missing, and so are all up to ${last}`;
}

/** The gateway's members as the columns have them, if the text begins with them. */
function headOf({ seq, time, kind, room, text }: EntryRow): string | undefined {
  const id = text.toString('latin1', 7, 43);
  if (seqOfId(id) !== seq || !(time >= 0 && time <= MAX_TIME)) return undefined;
  const salt = Number.parseInt(id.slice(-12), 16) % SALTS;
  const head = entryHead({ id: entryId(time, seq, salt), seq, kind, room, time });
  return text.toString('latin1', 0, head.length) === head ? head : undefined;
}

async function readBody(
  paths: DataPaths,
  { large, text }: EntryRow,
  headSize: number,
  signal: AbortSignal | undefined,
): Promise<StoredBody | string> {
  const rest = text.subarray(headSize);
  if (large === undefined) {
    const body = rest.subarray(1, -1);
    const framed =
      rest.at(-1) === BRACE && (rest.length === 1 || (rest[0] === COMMA && body.length > 0));
    return { digest: sha256(body), size: text.length, framed };
  }
  try {
    const found = await digestOfFile(largeChunks(paths, large), signal);
    const { size, last } = found;
    const framed =
      last === BRACE && (rest.length === 1 ? rest[0] === COMMA && size > 1 : size === 1);
    return { digest: found.digest(), size: text.length + size, framed };
  } catch (error) {
    if (signal?.aborted === true) throw error;
    assertStorageFault(error);
    return isMissing(error)
      ? 'has lost its file'
      : `has a file that cannot be read (${error.message})`;
  }
}
