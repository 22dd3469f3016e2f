/**
 * What the gateway says of itself (PROTOCOL.md section 17), so that whoever has only its address
 * finds out what can be done here, by whichever convention it was built for.
 *
 * Owns descriptions, each made of the language file and of the paths that there are; refuses to
 * know the log. Upholds that every example works as it stands, and that nothing of it is loaded,
 * or kept in memory, before somebody asks.
 */
import { addressOf } from '../http/address.ts';
import { answer, inTongue, NOT_KEPT, REVALIDATE } from '../http/answer.ts';
import { tongueFor, type Exchange, type Handler } from '../http/exchange.ts';
import { editionOf } from '../http/language.ts';
import { status } from '../http/status.ts';
import { ABOUT } from './links.ts';
import type { Path } from './operations.ts';
import { preferred } from './preferred.ts';
import type { PAGES } from './written.ts';

type Name = keyof typeof PAGES;
type Routes = () => readonly Path[];

/** The handler of a page of this name. */
export function about(name: Name, routes: Routes): Handler {
  return async (exchange) => await tell(exchange, name, routes);
}

const HOME = ['application/json', 'text/markdown', 'text/plain', 'text/html'] as const;

/** The status document, unless the caller would rather have words. */
export function home(routes: Routes): Handler {
  return async (exchange) => {
    const form = preferred(exchange.request.headers.accept, HOME);
    if (form === 'application/json') await status(exchange, 'Accept');
    else await tell(exchange, form, routes);
  };
}

async function tell(exchange: Exchange, name: Name, routes: Routes): Promise<void> {
  const { house, request } = exchange;
  const { PAGES } = await import('./written.ts');
  const tongue = tongueFor(request);
  const { language } = house;
  const address = addressOf(exchange);
  const written = await PAGES[name]({ house, language, tongue, address, routes });
  const { type, body } = written;
  const isHome = name.includes('/');
  const more = 'headers' in written ? written.headers : {};
  const kept = isHome ? NOT_KEPT : REVALIDATE;
  const varied = isHome ? ['Accept'] : [];
  const tag = isHome ? {} : { tag: `"${editionOf(body)}"` };
  const headers = { ...kept, ...inTongue(tongue, ...varied), ...ABOUT, ...more };
  await answer(exchange, { status: 200, type, headers, body, ...tag });
}
