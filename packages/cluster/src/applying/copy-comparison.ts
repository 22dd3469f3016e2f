/**
 * Compares this copy with the others while the gateway runs. Each copy reports the link of an entry that
 * all should have by now; a link depends on every entry before it. Owns the reports. Does not know why
 * copies differ or which is right: it only counts how many agree with this one.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type { NatsConnection } from '@nats-io/transport-node';
import type { Replica, ReplicaReader, Seq, StreamAddress } from '@open-presence/gateway/replica';

import { gatewayOf } from '../publishing/publisher.ts';

/** One report of a copy, sent as JSON. */
interface CopyReport {
  readonly publisher: string;
  /** The link of an entry near its head, and of the entries that the others reported last: so that some are in common. */
  readonly links: readonly EntryLink[];
}

interface EntryLink {
  readonly seq: Seq;
  readonly link: string;
}

interface ComparedCopy {
  readonly publisher: string;
  /** Is told after each comparison whether another copy differs. */
  readonly replica: Replica;
  readonly log: ReplicaReader;
}

interface OtherCopy {
  /** The first entry whose link it reported. */
  readonly seq: Seq;
  /** Undefined until it reports the link of an entry that this copy has. */
  readonly isEqual: boolean | undefined;
  readonly heardAt: number;
}

export const REPORT_MS = 2000;
/** The end of the subject of the reports, after the name of the stream. */
export const COPIES_SUFFIX = '-copies';
/** Reports the link of the head this many reports ago: a slower gateway has to have that entry. */
const REPORTS_BEHIND = 5;
/** A copy that has been silent for this long is no longer compared. */
const FORGOTTEN_MS = 60_000;

const TEXT =
  'Most gateways of the cluster have another log than this one. Move its data folder away and start it with an empty one, which the stream fills, or with one that is restored from a backup of another gateway (presence restore --as-copy).';

class DifferentCopy extends Error {}

export class CopyComparison {
  readonly #connection: NatsConnection;
  readonly #subject: string;
  readonly #copy: ComparedCopy;
  readonly #others = new Map<string, OtherCopy>();
  #heads: Seq[] = [];

  constructor(connection: NatsConnection, { stream }: StreamAddress, copy: ComparedCopy) {
    this.#connection = connection;
    // Outside the subjects of the stream, which would store the reports.
    this.#subject = `${stream}${COPIES_SUFFIX}`;
    this.#copy = copy;
    connection.subscribe(this.#subject, {
      callback: (_, message) => this.#compare(message.json<CopyReport>()),
    });
  }

  /** Reports to the others until aborted. Throws if more copies differ from this one than agree with it, itself counted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#report();
      await sleep(REPORT_MS, undefined, { signal }).catch(() => {});
      if (this.#isOutvoted()) throw new DifferentCopy(TEXT);
    }
  }

  #isOutvoted(): boolean {
    const all = [...this.#others.values()];
    const different = all.filter(({ isEqual }) => isEqual === false).length;
    return different > all.filter(({ isEqual }) => isEqual === true).length + 1;
  }

  #report(): void {
    const { publisher, replica } = this.#copy;
    this.#heads = [...this.#heads, replica.state.head].slice(-REPORTS_BEHIND);
    const seqs = new Set([
      this.#heads[0] ?? 0,
      ...[...this.#others.values()].map(({ seq }) => seq),
    ]);
    const links = [...seqs].flatMap((seq) => this.#linkAt(seq));
    if (links.length === 0 || this.#connection.isClosed()) return;
    const report: CopyReport = { publisher, links };
    this.#connection.publish(this.#subject, JSON.stringify(report));
  }

  #linkAt(seq: Seq): EntryLink[] {
    const link = this.#copy.log.linkAt(seq);
    return link === undefined ? [] : [{ seq, link }];
  }

  #compare({ publisher, links }: CopyReport): void {
    const [newest] = links;
    if (publisher === this.#copy.publisher || newest === undefined) return;
    // A gateway keeps its identity over restarts: one that is started again and again has one vote.
    const copy = gatewayOf(publisher);
    const now = performance.now();
    const compared = links.flatMap(({ seq, link }) =>
      this.#linkAt(seq).map((own) => own.link === link),
    );
    const isEqual =
      compared.length === 0 ? this.#others.get(copy)?.isEqual : compared.every(Boolean);
    this.#others.set(copy, { seq: newest.seq, isEqual, heardAt: now });
    for (const [id, { heardAt }] of this.#others)
      if (now - heardAt > FORGOTTEN_MS) this.#others.delete(id);
    const isDifferent = [...this.#others.values()].some((other) => other.isEqual === false);
    const text = 'another copy of the log has other entries, or some in another order';
    this.#copy.replica.report('copies', isDifferent ? new Error(text) : undefined);
  }
}
