/**
 * The service worker. It answers in the place of a gateway that cannot be reached: with a page that says so.
 * Everything else goes to the gateway, and nothing else is stored.
 */
/* oxlint-disable typescript/no-unsafe-call, typescript/no-unsafe-member-access, typescript/no-unsafe-argument, typescript/no-unsafe-return -- The types of service workers contradict those of pages. */
const CACHE = 'open-presence';
const LOCALES = ['en', 'uk'];
const ASSETS = '/web/assets/';

/** The ids of what shows the page. What other pages load does not pass through here. */
const showing = new Set();

/** For those whose browser prefers no language of ours. */
const PAGE = '/web/offline';
const pageIn = (locale) => `${PAGE}?lang=${locale}`;
const PAGES = [PAGE, ...LOCALES.map(pageIn)];

addEventListener('install', (event) => {
  skipWaiting();
  event.waitUntil(store());
});

addEventListener('activate', (event) => {
  event.waitUntil(Promise.all([clients.claim(), registration.navigationPreload?.enable()]));
});

addEventListener('fetch', (event) => {
  const { request } = event;
  const { pathname, searchParams } = new URL(request.url);
  if (request.mode === 'navigate' && request.method === 'GET') {
    event.respondWith(
      navigate(event).catch(() => {
        showing.add(event.resultingClientId);
        return caches.match(pageFor(searchParams));
      }),
    );
  } else if (showing.has(event.clientId) && pathname.startsWith(ASSETS)) {
    event.respondWith(caches.match(pathname).then((stored) => stored ?? fetch(request)));
  }
});

async function navigate({ request, preloadResponse }) {
  return (await preloadResponse) ?? (await fetch(request));
}

/** In the language that the gateway would choose. */
function pageFor(parameters) {
  const preferred = [parameters.get('lang') ?? '', ...navigator.languages].map((language) =>
    language.slice(0, 2).toLowerCase(),
  );
  return preferred.map(pageIn).find((page) => PAGES.includes(page)) ?? PAGE;
}

/** Stores the page with what it loads, and removes what an earlier one loaded. */
async function store() {
  const cache = await caches.open(CACHE);
  const paths = new Set(PAGES);
  for (const page of PAGES) {
    const html = await (await fetch(page)).text();
    for (const [path] of html.matchAll(/\/web\/assets\/[\w.-]+/g)) paths.add(path);
  }
  await cache.addAll(paths);
  for (const request of await cache.keys()) {
    if (!paths.has(request.url.slice(location.origin.length))) await cache.delete(request);
  }
}
