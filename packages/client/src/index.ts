/**
 * Visits an Open Presence Gateway from a program: in Node, browsers, Deno, Bun and workers. Needs
 * `fetch` and nothing else. Knows the contract of PROTOCOL.md; holds no state but cursors.
 */
export type { CatchUpDocument, Checkpoint, ConcernDocument } from '@open-presence/protocol';

export type { CatchUpOptions, Presence, PresenceFilters } from './catch-up.ts';
export type { ConnectionOptions, GatewayOptions, Query, QueryValue, Signal } from './connection.ts';
export { type EntriesOf, type Entry, type EntryOf, isShortened, jsonText } from './entry.ts';
export { type Cases, type FollowFilters, Follower } from './follow.ts';
export { Gateway } from './gateway.ts';
export type {
  EntryFilters,
  LineFilters,
  ListingEnd,
  ListingFilters,
  Page,
  SearchResult,
} from './listing.ts';
export {
  type ErrorCode,
  PresenceError,
  type PresenceErrorOptions,
  type ProblemDocument,
} from './presence-error.ts';
export type { LogRange, Withholding, WithholdingsOptions } from './log.ts';
export type { RetryListener } from './waiting.ts';
export type {
  Arrival,
  Members,
  ReplyOptions,
  SaidMembers,
  SaidResult,
  SayOptions,
  Stored,
} from './say.ts';
