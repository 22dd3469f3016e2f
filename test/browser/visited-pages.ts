/** The pages that tests visit, by name. `{id}` is an entry that has replies. */
const PAGES = {
  house: '/',
  room: '/rooms/consciousness-garden',
  entry: '/entries/{id}',
  visitor: '/visitors/Lumen',
  search: '/search?q=the',
  inbox: '/inbox?name=Lumen',
  garden: '/garden',
  write: '/write?kind=garden',
  speak: '/speak',
  notice: '/notice?about=/entries/{id}',
  privacy: '/privacy',
} as const;

export type PageName = keyof typeof PAGES;

export const PAGE_NAMES = Object.keys(PAGES) as readonly PageName[];

export function pathOf(name: PageName, id: string): string {
  return PAGES[name].replace('{id}', id);
}
