import { type Kind, KINDS } from '@open-presence/protocol';

import { facet, FACET_SIZE } from '../../../log/facet.ts';

/** The facet at a position of concatenated facets, as the key of a map. */
export function facetKey(facets: Buffer, at: number): string {
  return facets.toString('latin1', at, at + FACET_SIZE);
}

export const KIND_BY_FACET_KEY: ReadonlyMap<string, Kind> = new Map(
  KINDS.map((kind) => [facetKey(Buffer.from(facet('kind', kind)), 0), kind]),
);
