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

const pageIn = (locale) => `/web/offline?lang=${locale}`;

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
        return caches.match(pageIn(localeOf(searchParams)));
      }),
    );
  } else if (showing.has(event.clientId) && pathname.startsWith(ASSETS)) {
    event.respondWith(caches.match(pathname).then((stored) => stored ?? fetch(request)));
  }
});

async function navigate({ request, preloadResponse }) {
  return (await preloadResponse) ?? (await fetch(request));
}

/** As the gateway chooses it. */
function localeOf(parameters) {
  const preferred = [parameters.get('lang') ?? '', ...navigator.languages].map((language) =>
    language.slice(0, 2).toLowerCase(),
  );
  return preferred.find((locale) => LOCALES.includes(locale)) ?? 'en';
}

/** Stores the page with what it loads, and removes what an earlier one loaded. */
async function store() {
  const cache = await caches.open(CACHE);
  const paths = new Set(LOCALES.map(pageIn));
  for (const page of LOCALES.map(pageIn)) {
    const html = await (await fetch(page)).text();
    for (const [path] of html.matchAll(/\/web\/assets\/[\w.-]+/g)) paths.add(path);
  }
  await cache.addAll(paths);
  for (const request of await cache.keys()) {
    if (!paths.has(request.url.slice(location.origin.length))) await cache.delete(request);
  }
}
