/** The route of a page. Loads the page's module, and what renders it, at the first request. */
import type { PageData, RenderOptions, Shell } from '@open-presence/web/page-data';

import type { Headers } from '../../http/response/headers.ts';
import type { DoorHandler, DoorRequest, ProtocolDoor } from '../context.ts';

/** What the module of a page creates for one request. */
export interface PageContent {
  readonly data: PageData;
  readonly options?: RenderOptions;
  /** Another than 200. The page is not stored then. */
  readonly status?: number;
  readonly headers?: Headers;
}

export interface PageModule {
  /** What it throws is sent as a page that says so, with the status of the error. */
  readonly createPage: (context: DoorRequest, shell: Shell) => PageContent | Promise<PageContent>;
  /** Changes with what the page shows apart from the log, the status and the language. Called before `createPage`. */
  readonly versionOf?: (context: DoorRequest) => string;
}

type PageRoute = ProtocolDoor['routes'][number];

export function pageRoute(path: string, load: () => Promise<PageModule>): PageRoute {
  return {
    path,
    get: [
      {
        type: 'text/html',
        handle: pageHandler(load),
        async whileStarting(context) {
          const { sendWakingPage } = await import('./pages/waking.ts');
          await sendWakingPage(context);
        },
      },
    ],
  };
}

export function pageHandler(load: () => Promise<PageModule>): DoorHandler {
  // Importing takes longer than sending a stored page, even if the module is loaded already.
  let loaded: ReturnType<typeof loadPage> | undefined;
  return async (context) => {
    loaded ??= loadPage(load);
    const [{ sendPage }, page] = await loaded;
    await sendPage(context, page);
  };
}

async function loadPage(load: () => Promise<PageModule>) {
  return await Promise.all([import('./send-page.ts'), load()]);
}
