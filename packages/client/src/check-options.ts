/** The options of each method, by which those that it does not have are refused: they would have no effect. */
import type { CatchUpOptions } from './catch-up.ts';
import type { Signal } from './connection.ts';
import type { EntryFilters } from './entry-filters.ts';
import type { FollowFilters } from './follow.ts';
import type { GatewayOptions } from './gateway-options.ts';
import type { ListingFilters } from './listing.ts';
import type { LineFilters, LogRange } from './log/log-bytes.ts';
import type { LogOptions } from './log/read-log.ts';
import type { PresenceFilters } from './presence.ts';
import type { ReplyOptions, SayOptions } from './say.ts';

type Names<Options> = readonly (keyof Options & string)[];

const FILTERS: Names<EntryFilters> = [
  'since',
  'room',
  'kind',
  'identity',
  'identityType',
  'seeking',
  'to',
  'inReplyTo',
  'thread',
  'concerns',
];
const signal: Names<Signal> = ['signal'];
const range: Names<LogRange> = ['after', 'limit', 'signal'];
const contact: Names<SayOptions> = ['idempotencyKey', 'retry', 'signal'];
const say: Names<SayOptions> = [...contact, 'minimal'];
const reply: Names<ReplyOptions> = [...say, 'kind'];
const lines: Names<LineFilters> = [...FILTERS, ...range, 'before', 'until', 'q'];
const listing: Names<ListingFilters> = [...lines, 'order', 'wait', 'with'];
const search: Names<ListingFilters> = listing.filter((name) => name !== 'q' && name !== 'with');
const follow: Names<FollowFilters> = [...FILTERS, ...range, 'log', 'onCases'];
const presence: Names<PresenceFilters> = ['room', 'limit', 'signal'];
const catchUp: Names<CatchUpOptions> = ['identity', 'after', 'before', 'budget', 'wait', 'signal'];
const log: Names<LogOptions> = [...range, 'live'];
const checkpoint: Names<Signal & { at: number }> = ['at', 'signal'];
const gateway: Names<GatewayOptions> = [
  'identity',
  'identityType',
  'seen',
  'locale',
  'exactNumbers',
  'fetch',
  'onRetry',
  'maxRetries',
  'timeout',
  'longest',
];

const OPTIONS = {
  signal,
  range,
  contact,
  say,
  reply,
  lines,
  listing,
  search,
  follow,
  presence,
  catchUp,
  log,
  checkpoint,
  gateway,
};

/** These options. Throws a `TypeError` for one that is not among those of `kind`. */
export function checked<Options extends object>(
  options: Options,
  kind: keyof typeof OPTIONS,
): Options {
  const known: readonly string[] = OPTIONS[kind];
  for (const [name, value] of Object.entries(options))
    if (value !== undefined && !known.includes(name))
      throw new TypeError(`There is no option ${JSON.stringify(name)} here: ${known.join(', ')}.`);
  return options;
}
