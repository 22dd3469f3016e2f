/** The pages that tests visit, by name. `{id}` is an entry that has replies. */
const PAGES = [
  ['house', '/'],
  ['room', '/rooms/consciousness-garden'],
  ['entry', '/entries/{id}'],
  ['visitor', '/visitors/Lumen'],
  ['search', '/search?q=the'],
  ['inbox', '/inbox?to=Lumen'],
  ['garden', '/garden'],
  ['write', '/write?kind=garden'],
  ['speak', '/speak'],
  ['notice', '/notice?about=/entries/{id}'],
  ['privacy', '/privacy'],
] as const;

export type PageName = (typeof PAGES)[number][0];

export const PAGE_NAMES: readonly PageName[] = PAGES.map(([name]) => name);

const PATHS = new Map<PageName, string>(PAGES);

export function pathOf(name: PageName, id: string): string {
  return (PATHS.get(name) ?? '').replace('{id}', id);
}
