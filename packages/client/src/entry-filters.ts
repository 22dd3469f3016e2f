/** What selects entries by what they are, in listings, searches and streams (PROTOCOL.md section 8.2). */
import type { Kind } from '@open-presence/protocol';

type OneOrSeveral<Value> = Value | readonly Value[];

/** Several filters are combined with *and*; several rooms or kinds are alternatives. */
export interface EntryFilters<K extends Kind = Kind> {
  readonly since?: string | Date | undefined;
  readonly room?: OneOrSeveral<string> | undefined;
  readonly kind?: OneOrSeveral<K> | undefined;
  readonly identity?: OneOrSeveral<string> | undefined;
  readonly identityType?: OneOrSeveral<string> | undefined;
  readonly seeking?: OneOrSeveral<string> | undefined;
  readonly to?: OneOrSeveral<string> | undefined;
  /** The id or the seq of an entry: only what answers it. */
  readonly inReplyTo?: OneOrSeveral<string | number> | undefined;
  /** The id or the seq of an entry: only the conversation that it belongs to. */
  readonly thread?: OneOrSeveral<string | number> | undefined;
  /** A name: only what is addressed to it, answers it or mentions it. */
  readonly concerns?: OneOrSeveral<string> | undefined;
}
