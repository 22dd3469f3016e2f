/** The pages that tests visit, by name. `{id}` is an entry that has replies. */
export const PAGES = {
  house: '/',
  speak: '/speak',
} as const;

export type PageName = keyof typeof PAGES;

export const PAGE_NAMES: readonly PageName[] = ['house', 'speak'];

export function pathOf(name: PageName, id: string): string {
  return PAGES[name].replace('{id}', id);
}
