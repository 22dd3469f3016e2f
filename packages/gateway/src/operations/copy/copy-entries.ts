/**
 * Copies another gateway's log, entry by entry, in flat memory. The facets of each entry are made again
 * from its body; ids, times, salts and links come as they are, and the store verifies them.
 *
 * Invariant: A copied log has the same entries, links and name. What does not follow is refused
 *   with its seq.
 * Test: `packages/gateway/src/operations/copy/copy-entries.test.ts` “makes the same log, which goes on
 *   by itself” “refuses what does not follow with its seq, and keeps what came before”
 * Test: `packages/cli/src/copy/copy.test.ts` “make the same log again, and its export has the same
 *   bytes”
 */
import { GatewayError } from '@open-presence/protocol';

import { readDraft } from '../../intake/draft.ts';
import type { Grammar } from '../../intake/grammar.ts';
import { StoredGrammar } from '../../intake/stored-grammar.ts';
import type {
  CopyFault,
  CopyResult,
  EntryCopy,
  LogCopier,
  WithholdingCopy,
} from '../../log/log-copier.ts';
import type { Seq } from '../../log/log.ts';
import { isMalformed, type LogLine, smallCopyOf, metadataOf } from '../log-line.ts';

/** Where in a log its lines begin: after this entry. */
export interface LogPosition {
  readonly head: Seq;
  /** The link of that entry, in hex; zeros before the first. */
  readonly link: string;
}

/** Thrown for a line that cannot be stored. Those before it are. */
export class CopyRefusal extends Error {
  readonly seq: Seq;
  readonly fault: keyof typeof REASONS;

  constructor(seq: Seq, fault: keyof typeof REASONS) {
    super(`Entry ${seq} ${REASONS[fault]}`);
    this.seq = seq;
    this.fault = fault;
  }
}

const REASONS: Readonly<Record<CopyFault | 'form', string>> = {
  differs: 'is another one here: these are two logs, or one of them was rewritten.',
  gap: 'does not follow the last one here: entries between them are missing. What was exported with filters cannot be imported.',
  changed: 'is not what its link was made of: it, its link or one before it was changed.',
  form: 'has not the form in which a gateway prints it.',
};

const REFUSED = {
  'out-of-space': 'Cannot store the copy: the disk is full.',
  unavailable: 'Cannot store the copy: writing to the disk failed.',
} as const;

/** One commit each. */
const BATCH_BYTES = 4 * 1024 * 1024;
const MAX_WITHHELD = 4096;
/** Batches that wait for the disk while the next is read. */
const MAX_IN_FLIGHT = 2;

const OPENING = 0x7b;
const CLOSING = 0x7d;

export class EntryCopier {
  readonly #copier: LogCopier;
  readonly #grammar: StoredGrammar;
  #last: Seq = 0;
  /** Withholdings of entries that are there already. */
  #withheld: WithholdingCopy[] = [];
  /** The results of batches in flight, the oldest first. */
  #results: Promise<CopyResult>[] = [];

  constructor(copier: LogCopier, grammar: Grammar) {
    this.#copier = copier;
    this.#grammar = new StoredGrammar(grammar);
  }

  /** Throws a `CopyRefusal` unless the lines from this position on can continue the log. */
  assertContinues({ head, link }: LogPosition): void {
    this.#last = head;
    if (head > this.#copier.head()) throw new CopyRefusal(head + 1, 'gap');
    if (head > 0) this.#assertLink(head, link);
  }

  /** Resolves when more lines may follow. Throws a `CopyRefusal`, or a `GatewayError` if the disk fails. */
  async add(lines: readonly LogLine[]): Promise<void> {
    const copier = this.#copier;
    for (const line of lines) {
      if (line.seq <= copier.head()) await this.#skip(line);
      else {
        const copy = smallCopyOf(line, this.#grammar) ?? (await this.#copyOf(line));
        const adding = copier.add(copy);
        if (adding instanceof Promise) await adding;
      }
      this.#last = line.seq;
      if (copier.pending >= BATCH_BYTES) await this.#send(MAX_IN_FLIGHT);
    }
  }

  /** Resolves when all lines are durable. Throws as `add`. */
  async flush(): Promise<void> {
    await this.#send(0);
    await this.#withhold();
  }

  /** Withholds entries that were withheld elsewhere. Resolves and rejects as `Log.withhold`. */
  async withhold(withholdings: readonly WithholdingCopy[]): Promise<void> {
    await this.#copier.withhold(withholdings);
  }

  isWithheld(seq: Seq): boolean {
    return this.#copier.isWithheld(seq);
  }

  /** Shows an entry again that is withheld here. `line`: with what it says. */
  async show(line: LogLine, withholding: WithholdingCopy): Promise<void> {
    if (line.salt === undefined) return;
    const copy = smallCopyOf(line, this.#grammar) ?? (await this.#copyOf(line));
    await this.#copier.add({ ...copy, isPutBack: true });
    await this.#send(0);
    await this.#copier.withhold([withholding]);
  }

  /** Where the link here cannot be read, nothing contradicts. */
  #assertLink(seq: Seq, link: string): void {
    const own = this.#copier.linkAt(seq);
    if (own !== undefined && own !== link) throw new CopyRefusal(seq, 'differs');
  }

  /** What was withheld there since it was copied is withheld here too. */
  async #skip(line: LogLine): Promise<void> {
    const { seq, link } = line;
    this.#assertLink(seq, link);
    if (line.digest === undefined) return;
    const copy = smallCopyOf(line, this.#grammar);
    if (copy?.withheld === undefined) return;
    const { time, reason } = copy.withheld;
    this.#withheld.push({ seq, time, reason, state: 'withheld' });
    if (this.#withheld.length >= MAX_WITHHELD) await this.#withhold();
  }

  async #withhold(): Promise<void> {
    if (this.#withheld.length > 0) await this.#copier.withhold(this.#withheld.splice(0));
  }

  async #copyOf(line: LogLine): Promise<EntryCopy> {
    const { seq, salt, link, key } = line;
    const metadata = metadataOf(line);
    if (metadata === undefined) throw await this.#refusal(this.#last + 1, 'form');
    if (salt === undefined) throw await this.#refusal(seq, 'form');
    const options = {
      grammar: this.#grammar.for(metadata.kind, metadata.room),
      spool: () => this.#copier.spool(),
      key: undefined,
    };
    try {
      const draft = await readDraft(metadata.kind, chunksInBraces(line), options);
      const { facets, body, portability = 'exact' } = draft;
      return { metadata, facets, body, portability, link, salt, key };
    } catch (error) {
      if (!isMalformed(error)) throw error;
      throw await this.#refusal(seq, 'form');
    }
  }

  /** Refuses an entry after those before it are stored. */
  async #refusal(seq: Seq, fault: CopyRefusal['fault']): Promise<CopyRefusal> {
    await this.flush();
    return new CopyRefusal(seq, fault);
  }

  /** Waits until no more than this many batches are in flight. */
  async #send(inFlight: number): Promise<void> {
    if (this.#copier.pending > 0) this.#results.push(this.#copier.commit());
    while (this.#results.length > inFlight) {
      const result = await this.#results.shift();
      if (result?.outcome === 'refused') throw new CopyRefusal(result.seq, result.fault);
      if (result?.outcome === 'failed') throw new GatewayError(result.code, REFUSED[result.code]);
    }
  }
}

async function* chunksInBraces(line: LogLine): AsyncGenerator<Uint8Array> {
  yield Buffer.of(OPENING);
  // Copied, since the bytes are valid only until the next are requested.
  for await (const chunk of line.chunks()) yield Buffer.from(chunk);
  yield Buffer.of(CLOSING);
}
