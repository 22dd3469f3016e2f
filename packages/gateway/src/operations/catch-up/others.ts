/** What was said elsewhere since: who came, who is here, and how much. It has a part of the budget. */
import type { Kind } from '@open-presence/protocol';

import { facet, type FacetCondition } from '../../log/facet.ts';
import type { Log, Seq } from '../../log/log.ts';
import type { OperationsContext } from '../context.ts';
import { said, shortName } from '../contribution/said.ts';
import type { CatchUp } from './catch-up-document.ts';
import type { ConcernRange } from './open-entries.ts';
import { tokensOf } from './tokens.ts';

/** Characters of an excerpt. */
const EXCERPT = 80;
/** How many of the newest entries after the cursor are counted by room, kind and thread. */
const RECENT = 50;
/** How many first contacts are looked at for seekers. */
const MAX_CONTACTS = 32;
const MAX_NAMES = 8;
const MAX_THREADS = 3;
const MAX_SOUGHT = 16;

export type OthersContext = Pick<OperationsContext, 'log' | 'presence' | 'recentAuthors'>;
type Range = Omit<ConcernRange, 'identity'>;

type Others = Pick<CatchUp, 'seekers' | 'here' | 'elsewhere'>;

/** As much of it as these tokens take, the counts always. */
export async function othersOf(
  app: OthersContext,
  { identity, ...range }: ConcernRange,
  tokens: number,
): Promise<Others> {
  const { log } = app;
  const newest = await newestOf(log, range);
  const entries = range.before - range.after - 1;
  const counts = {
    entries,
    newest: newest.length,
    rooms: Object.fromEntries(counted(newest.map(({ room }) => room))),
    kinds: Object.fromEntries(counted(newest.map(({ kind }) => kind))),
  };
  const present = app.presence.list(MAX_NAMES + 1).map((visitor) => visitor.identity);
  const names = present.filter((name) => name !== identity).slice(0, MAX_NAMES);
  let left = tokens - tokensOf(counts);
  const taken = <Item>(items: readonly Item[]): Item[] =>
    items.filter((item) => (left -= tokensOf(item) + 1) >= 0);
  const here = taken(names);
  const seekers = taken(await seekersOf(app, identity, range));
  const threads = taken(await busiestThreads(log, newest));
  return { seekers, here, elsewhere: { ...counts, threads } };
}

/** The newest first contacts of others who seek something that this visitor seeks. */
async function seekersOf(
  { log, presence, recentAuthors }: OthersContext,
  identity: string,
  range: Range,
): Promise<CatchUp['seekers']> {
  const own = await recentAuthors.seeking.read(identity, range.before - 1);
  if (own.length === 0) return [];
  const sought = own.slice(0, MAX_SOUGHT).map((value) => facet('seeking', value));
  const facets: readonly FacetCondition[] = [facet('kind', 'resonance'), sought];
  const found = new Map<string, CatchUp['seekers'][number]>();
  const newest = { facets, order: 'newest', ...range, limit: MAX_CONTACTS } as const;
  for await (const entry of log.readEntries(newest)) {
    const { id, names, seeking } = await said(log, entry, EXCERPT);
    const [from] = names;
    if (from === undefined || names.includes(identity) || found.has(from)) continue;
    if (presence.isHidden(from)) continue;
    found.set(from, { id, from: shortName(from), seeking });
    if (found.size === MAX_NAMES) break;
  }
  return [...found.values()];
}

interface Recent {
  readonly kind: Kind;
  readonly room: string;
  readonly thread: Seq;
}

async function newestOf(log: Log, range: Range): Promise<Recent[]> {
  const newest = { facets: [], order: 'newest', ...range, limit: RECENT } as const;
  const found: Recent[] = [];
  for await (const { metadata, thread } of log.readEntries(newest))
    found.push({ kind: metadata.kind, room: metadata.room, thread });
  return found;
}

/** Those with most entries first. */
function counted<Key>(keys: readonly Key[]): [Key, number][] {
  const groups = Map.groupBy(keys, (key) => key);
  return Array.from(groups, ([key, { length }]): [Key, number] => [key, length]).toSorted(
    ([, a], [, b]) => b - a,
  );
}

/** By how many of the newest entries they have: at least two. */
async function busiestThreads(
  log: Log,
  newest: readonly Recent[],
): Promise<CatchUp['elsewhere']['threads']> {
  const busiest = counted(newest.map(({ thread }) => thread)).filter(([, entries]) => entries > 1);
  return await Promise.all(
    busiest.slice(0, MAX_THREADS).map(async ([root, entries]) => {
      const begun = await log.entry(root);
      const { id = '', names = [], text = '' } = begun ? await said(log, begun, EXCERPT) : {};
      return { id, from: shortName(names[0]), text, entries };
    }),
  );
}
