/** Where feeds are, and what they are called (PROTOCOL.md section 15.1). */

export const FEED_FORMS = ['atom', 'json-feed'] as const;
export type FeedForm = (typeof FEED_FORMS)[number];

export const FEED_TYPES: Readonly<Record<FeedForm, string>> = {
  atom: 'application/atom+xml',
  'json-feed': 'application/feed+json',
};

/** The feed of everything has no listing beside it: its addresses are `/feed.atom`, `/feed.json`. */
export const EVERYTHING = '/feed';

/** The address of a feed of what is listed at a path. */
export function feedPath(path: string, form: FeedForm): string {
  return path === EVERYTHING && form === 'json-feed' ? `${path}.json` : `${path}.${form}`;
}

/** For a `Link` header: the feeds of what is listed at a path. */
export function feedLinks(path: string): string {
  return FEED_FORMS.map((form) => {
    return `<${feedPath(path, form)}>; rel="alternate"; type="${FEED_TYPES[form]}"`;
  }).join(', ');
}
