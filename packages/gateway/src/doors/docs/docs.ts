/**
 * What the gateway says of itself (PROTOCOL.md section 17), so that whoever has only its address
 * finds out what can be done here, by whichever convention it was built for.
 *
 * Owns descriptions, each made of the language file and of the paths that there are; refuses to
 * know the log. Upholds that every example works as it stands, and that nothing of it is loaded,
 * or kept in memory, before somebody asks.
 */
import { SERVICE_LINK_HEADER } from '@open-presence/protocol';

import { addressOf } from '../../http/public-address.ts';
import { answer, contentLanguage, NOT_KEPT, REVALIDATE } from '../../http/answers.ts';
import { localeFor, type RequestContext, type Handler } from '../../http/context.ts';
import { hashOf } from '../rest/language.ts';
import { status } from '../rest/status.ts';
import type { Path } from './operations.ts';
import { preferred } from './preferred.ts';
import type { PAGES } from './written.ts';

type Name = keyof typeof PAGES;
type Routes = () => readonly Path[];

/** The handler of a page of this name. */
export function about(name: Name, routes: Routes): Handler {
  return async (context) => await tell(context, name, routes);
}

const HOME = ['application/json', 'text/markdown', 'text/plain', 'text/html'] as const;

/** The status document, unless the caller would rather have words. */
export function home(routes: Routes): Handler {
  return async (context) => {
    const form = preferred(context.request.headers.accept, HOME);
    if (form === 'application/json') await status(context, 'Accept');
    else await tell(context, form, routes);
  };
}

async function tell(context: RequestContext, name: Name, routes: Routes): Promise<void> {
  const { app, request } = context;
  const { PAGES } = await import('./written.ts');
  const locale = localeFor(request);
  const { language } = app;
  const address = addressOf(context);
  const written = await PAGES[name]({ app, language, locale, address, routes });
  const { type, body } = written;
  const isHome = name.includes('/');
  const more = 'headers' in written ? written.headers : {};
  const kept = isHome ? NOT_KEPT : REVALIDATE;
  const varied = isHome ? ['Accept'] : [];
  const tag = isHome ? {} : { tag: `"${hashOf(body)}"` };
  const headers = {
    ...kept,
    ...contentLanguage(locale, ...varied),
    ...SERVICE_LINK_HEADER,
    ...more,
  };
  await answer(context, { status: 200, type, headers, body, ...tag });
}
