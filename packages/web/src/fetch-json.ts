import type { PageData } from './page-data.ts';

/** Reads what the gateway has for scripts. Rejects if it cannot be reached, or cannot answer. */
export async function fetchJson(path: string, signal: AbortSignal | null = null): Promise<unknown> {
  const answer = await fetch(path, { signal });
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`);
  return await answer.json();
}

/** The data of the page at this address as the gateway makes it now. */
export async function fetchPageData(): Promise<PageData> {
  const { pathname, search } = location;
  const answer = await fetch(pathname + search, { headers: { Accept: 'text/html' } });
  if (!answer.ok) throw new Error(`The page was answered with ${answer.status}`);
  const [, json = ''] = /id="page-data">([^<]*)</.exec(await answer.text()) ?? [];
  return JSON.parse(json) as PageData;
}
