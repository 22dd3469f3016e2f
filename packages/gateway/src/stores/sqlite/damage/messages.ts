/** What the threads of readers and the thread of the segments tell each other about damage. */
import type { Seq } from '../../../log/log.ts';
import type { FaultCause } from '../../../storage-fault.ts';

/** An entry that cannot be read, and why. */
export interface EntryDamage {
  readonly seq: Seq;
  readonly cause: FaultCause;
}

/** From a reader: what it could not read. */
export interface DamageReport {
  readonly unreadable: EntryDamage;
}

/** To each reader: which entries cannot be read, or can be again. */
export interface DamageNotice {
  readonly unreadable: readonly Seq[];
  readonly readable: readonly Seq[];
}
