/**
 * Compares this copy with the others while the gateway runs. Each copy reports the link of an entry that
 * all should have by now; a link depends on every entry before it. A copy that differs is logged: which
 * one is right, an operator finds out by `presence verify`.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type { NatsConnection } from '@nats-io/transport-node';
import type { Replica, ReplicaReader, Seq, StreamAddress } from '@open-presence/gateway/replica';

/** One report of a copy, sent as JSON. */
interface CopyReport {
  readonly publisher: string;
  readonly seq: Seq;
  readonly link: string;
}

interface ComparedCopy {
  readonly publisher: string;
  /** Is told when another copy differs. */
  readonly replica: Replica;
  readonly log: ReplicaReader;
}

export const REPORT_MS = 2000;
/** The end of the subject of the reports, after the name of the stream. */
export const COPIES_SUFFIX = '-copies';
/** Reports the link of the head this many reports ago: a slower gateway has to have that entry. */
const REPORTS_BEHIND = 5;

/** Reports to the others, and compares what they report, until aborted. */
export async function compareCopies(
  connection: NatsConnection,
  { stream }: StreamAddress,
  { publisher, replica, log }: ComparedCopy,
): Promise<void> {
  // Outside the subjects of the stream, which would store the reports.
  const subject = `${stream}${COPIES_SUFFIX}`;
  connection.subscribe(subject, {
    callback: (_, message) => {
      const other = message.json<CopyReport>();
      const link = other.publisher === publisher ? undefined : log.linkAt(other.seq);
      if (link === undefined || link === other.link) return;
      const text = `another gateway's copy of the log differs at entry ${other.seq} or before it`;
      replica.report('copies', new Error(text));
    },
  });
  let heads: Seq[] = [];
  while (!replica.signal.aborted) {
    heads = [...heads, replica.state.head].slice(-REPORTS_BEHIND);
    const [seq = 0] = heads;
    const link = log.linkAt(seq);
    if (link !== undefined && !connection.isClosed()) {
      const report: CopyReport = { publisher, seq, link };
      connection.publish(subject, JSON.stringify(report));
    }
    await sleep(REPORT_MS, undefined, { signal: replica.signal }).catch(() => {});
  }
}
