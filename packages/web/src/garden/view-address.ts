/** Keeps the view of the garden in the address, so that it can be sent to somebody. */
import { addressWith } from '../shell.ts';
import type { ChosenAuthor } from './main-authors.ts';
import type { GardenPicture } from './picture.ts';
import type { TimeRange } from './garden-data.ts';

export interface SharedView {
  readonly range: TimeRange | undefined;
  readonly author: ChosenAuthor | undefined;
  /** The time of the plant that is read, in ms since 1970. */
  readonly plant: number | undefined;
}

/** Reads the view from the address. Leaves out what it cannot read. */
export function viewInAddress(): SharedView {
  const query = new URLSearchParams(location.search);
  const time = (name: string): number | undefined => {
    const value = Date.parse(query.get(name) ?? '');
    return Number.isNaN(value) ? undefined : value;
  };
  const [from, to] = [time('from'), time('to')];
  const name = query.get('author');
  return {
    range: from === undefined || to === undefined || from >= to ? undefined : { from, to },
    author: name === null ? undefined : { name: name === '' ? undefined : name },
    plant: time('plant'),
  };
}

/** Browsers refuse to change the address many times in a row. */
const PAUSE_MS = 300;
let isWaiting = false;

/** Writes the view after a pause, since it may go on moving. Asks for `author` only then. */
export function keepViewInAddress(
  picture: GardenPicture,
  author: () => ChosenAuthor | undefined,
): void {
  if (isWaiting) return;
  isWaiting = true;
  setTimeout(() => {
    isWaiting = false;
    writeView(picture, author());
  }, PAUSE_MS);
}

function writeView(
  { view, timeline, focused }: Pick<GardenPicture, 'view' | 'timeline' | 'focused'>,
  author: ChosenAuthor | undefined,
): void {
  const { part } = view;
  const iso = (time: number | undefined): string | undefined =>
    time === undefined ? undefined : new Date(time).toISOString();
  const address = addressWith(location.pathname + location.search, {
    from: iso(part && Math.floor(timeline.timeAt(part.from))),
    to: iso(part && Math.ceil(timeline.timeAt(part.to))),
    author: author && (author.name ?? ''),
    plant: iso(focused && timeline.timeAt(focused.time)),
  });
  if (address !== location.pathname + location.search)
    history.replaceState(history.state, '', address + location.hash);
}
