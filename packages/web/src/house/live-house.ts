/** The house as it changes while its page is open: new entries, withheld ones, and who is here. */
import { useEffect, useState } from 'preact/hooks';

import type { PageEntry } from '../entries/entry-data.ts';
import { fetchPageData } from '../fetch-json.ts';
import { LiveEntries, type PresenceChange } from '../entries/live-entries.ts';
import { withoutWithheld, type Withholding } from '../entries/withheld-entry.ts';
import type { HousePage, PageVisitor } from '../page-data.ts';

const MAX_NEWEST = 8;
const MAX_VISITORS = 12;

export interface House extends Pick<HousePage, 'rooms' | 'here' | 'present' | 'lately' | 'newest'> {
  /** Whether an entry was withheld after the page was made. Its picture may still show that entry. */
  readonly isStale?: boolean;
}

export function useLiveHouse(data: HousePage): House {
  const [house, setHouse] = useState<House>(data);
  useEffect(() => {
    const live = new LiveEntries({
      query: '',
      head: data.head,
      log: data.shell.log,
      cases: data.shell.cases,
      async reload() {
        const now = (await fetchPageData()) as HousePage;
        setHouse({ ...now, isStale: now.shell.cases !== data.shell.cases });
        return now.head;
      },
      presence: { as: undefined },
      onEntries: (entries) => setHouse((before) => entries.reduce(withEntry, before)),
      onWithheld: (withholdings) => setHouse((before) => withholdings.reduce(withWithheld, before)),
      onPresence: (change) => setHouse((before) => withPresence(before, change)),
    });
    return () => live.close();
  }, []);
  return house;
}

export function withEntry(house: House, entry: PageEntry): House {
  const { author, room, timestamp } = entry;
  const others = house.lately.filter(({ identity }) => identity !== author);
  const isHere = house.here.some(({ identity }) => identity === author);
  const writer =
    author === undefined || isHere
      ? []
      : [{ identity: author, room, seeking: [], lastSeen: timestamp }];
  return {
    ...house,
    rooms: house.rooms.map((shown) =>
      shown.slug === room ? { ...shown, entries: shown.entries + 1, latest: timestamp } : shown,
    ),
    lately: [...writer, ...others].slice(0, MAX_VISITORS),
    newest: [entry, ...house.newest].slice(0, MAX_NEWEST),
  };
}

/** Takes the author out of `lately`, too, who may have said other things: the next page knows. */
function withWithheld(house: House, withholding: Withholding): House {
  const author = house.newest.find(({ id }) => id === withholding.id)?.author;
  return {
    ...house,
    isStale: true,
    lately: house.lately.filter(({ identity }) => identity !== author),
    newest: withoutWithheld(house.newest, [withholding]),
  };
}

export function withPresence(house: House, change: PresenceChange): House {
  const { identity, state, time } = change;
  const room = change.room ?? undefined;
  const known = house.here.find((visitor) => visitor.identity === identity);
  // Others are here than those whose names are shown.
  const mayBeHere = known !== undefined || house.present > house.here.length;
  if (state === 'here' ? known !== undefined : !mayBeHere) return house;
  const others = house.here.filter((visitor) => visitor !== known);
  const visitor: PageVisitor = { identity, room, seeking: [], lastSeen: time };
  const step = state === 'here' ? 1 : -1;
  const changed = state === 'here' ? room : (known?.room ?? room);
  return {
    ...house,
    rooms: house.rooms.map((shown) =>
      shown.slug === changed ? { ...shown, here: Math.max(0, shown.here + step) } : shown,
    ),
    present: Math.max(0, house.present + step),
    here: state === 'here' ? [visitor, ...others].slice(0, MAX_VISITORS) : others,
    lately: house.lately.filter((author) => state === 'gone' || author.identity !== identity),
  };
}
