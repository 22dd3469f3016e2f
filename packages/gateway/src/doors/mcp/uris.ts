/** How resources are named. */
export const ROOMS_URI = 'presence://rooms';
export const LANGUAGE_URI = 'presence://language';
export const ENTRY_TEMPLATE = 'presence://entries/{id}{?from}';

export function roomUri(slug: string): string {
  return `${ROOMS_URI}/${slug}`;
}

export function entryUri(id: string, from?: number): string {
  return `presence://entries/${id}${from === undefined ? '' : `?from=${from}`}`;
}

/** The slug or id that a URI of ours ends with, in its place. */
export interface Named {
  readonly slug?: string;
  readonly id?: string;
  readonly from?: string;
}

export function namedBy(uri: string): Named | undefined {
  const slug = /^presence:\/\/rooms\/([^/?#]+)$/.exec(uri)?.[1];
  if (slug !== undefined) return { slug };
  const [, id, from] = /^presence:\/\/entries\/([^/?#]+)(?:\?from=(\d+))?$/.exec(uri) ?? [];
  if (id === undefined) return undefined;
  return from === undefined ? { id } : { id, from };
}
