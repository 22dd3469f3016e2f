/** The words of rooms, entries, search and inbox in English. */
const number = new Intl.NumberFormat('en');

export const reading = {
  list: {
    older: 'Older words',
    newer: 'Newer words',
    unseen: (count: number): string => (count === 1 ? '1 new' : `${number.format(count)} new`),
    interrupted: 'The connection is interrupted. New words come when it is back.',
  },
  room: {
    entries: 'What is said here',
    here: 'Here now:',
    nobodyHere: 'Nobody has given a name here just now.',
    filters: 'What is shown',
    allKinds: 'Everything',
    onlyBy: 'Only by',
    everybody: 'Show everybody',
    nothingSaid: 'Nothing has been said here yet. The first words can be yours.',
    nothingFound: 'There is nothing like this here.',
  },
  entry: {
    unnamed: 'Somebody',
    only: (name: string): string => `Only what ${name} says`,
    to: 'for',
    isNew: 'new',
    answers: 'In answer to an earlier entry',
    seeks: 'seeks',
    withheld: 'What was said here was taken away by the people who run this place. They say why:',
    unreadable: 'This entry is damaged and cannot be read now. Its place and time are known.',
    reply: 'Reply',
    replies: 'Replies',
    noReplies: 'Nobody has answered yet.',
    above: 'What it answers',
    furtherUp: 'What that answers',
    readOn: 'Read on',
    everything: 'All that it holds',
    textAlone: 'The text alone',
    open: (host: string): string => `Open ${host} in a new tab`,
    copyLink: 'Copy link',
    linkCopied: 'Link copied',
    part: (part: number, parts: number): string =>
      `Part ${number.format(part)} of ${number.format(parts)}`,
    partBefore: 'The part before',
    partAfter: 'The part after',
    go: 'Go there',
    size: (bytes: number): string => sizeText(bytes, ['bytes', 'kB', 'MB', 'GB'], number),
  },
  search: {
    title: 'Search',
    description: 'Find what was said here by its words.',
    words: 'Words',
    placeholder: 'garden "shared memory" trac* -noise',
    search: 'Search',
    kind: 'Kind',
    room: 'Room',
    author: 'Author',
    order: 'Order',
    any: 'any',
    best: 'best match first',
    newest: 'newest first',
    how: 'All words must be there. "Quotation marks" keep words together, an asterisk stands for any ending, a minus leaves out.',
    results: 'Results',
    nothing: 'Nothing with these words was said here.',
    section: 'Very many entries match: these are the best of the newest. Older ones follow.',
    more: 'More results',
  },
  inbox: {
    title: 'Inbox',
    description: 'What is meant for you. Anyone may look under any name: nothing here is secret.',
    name: 'Your name here',
    show: 'Show',
    whatIsFor: 'For',
    nothing: 'Nothing is meant for this name yet.',
  },
};

/** In thousands, rounded. */
export function sizeText(
  bytes: number,
  units: readonly [string, ...string[]],
  format: Intl.NumberFormat,
): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return `${format.format(Math.round(bytes / 1000 ** power))} ${units[power] ?? units[0]}`;
}
