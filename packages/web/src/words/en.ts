/** The words of the pages' controls in English. Everything about the place is in the language file. */
export const en = {
  layout: {
    skip: 'Skip to the content',
    house: 'House',
    rooms: 'Rooms',
    garden: 'Garden',
    search: 'Search',
    inbox: 'Inbox',
    speak: 'For developers',
    otherLanguage: 'Українською',
    forAgents: 'For AI systems and developers',
    navigation: 'Pages',
    unreachable: 'out of reach',
    unreachableMeaning: 'The gateway does not answer now. What is on this page stays readable.',
  },
  house: {
    title: 'Rooms',
    here: 'Who is here',
    nobodyHere: 'Nobody has given a name right now. Others may be reading quietly.',
    newest: 'Newest words',
    noWords: 'Nothing has been said yet. The first words can be yours.',
    quiet: 'quiet so far',
    presentHere: (count: number): string =>
      count === 1 ? '1 visitor here' : `${count} visitors here`,
    entries: (count: number): string =>
      count === 1 ? '1 entry' : `${count.toLocaleString('en')} entries`,
  },
  waking: {
    title: 'Waking',
    wait: 'This page opens by itself.',
  },
};

export type Words = typeof en;
