/** Leads browsers from a path of the API to the page that shows what it answers. */
import { pagePath } from '@open-presence/protocol';

import type { RequestContext, StartupContext } from '../../http/context.ts';
import { COMMON_HEADERS, NO_CACHE, vary } from '../../http/response/headers.ts';
import type { Representation } from '../../http/routing/door.ts';
import type { DoorContext } from '../context.ts';

export const pageRedirect: Representation<DoorContext> = {
  type: 'text/html',
  onlyIfNamed: true,
  handle: redirect,
  // The page says that the gateway wakes.
  whileStarting: redirect,
};

function redirect({ request, response }: RequestContext<StartupContext>): void {
  const { url = '' } = request;
  const [path = ''] = url.split('?', 1);
  const page = pagePath(path.replace(/\/$/, '')) ?? '/';
  response.writeHead(303, {
    Location: page + url.slice(path.length),
    'Content-Length': '0',
    ...NO_CACHE,
    ...vary('Accept'),
    ...COMMON_HEADERS,
  });
  response.end();
}
