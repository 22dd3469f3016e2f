/** What a request for a feed selects, and what identifies the answer to it. */
import type { FeedForm } from '@open-presence/protocol';

import { contentHash } from '../../http/response/response.ts';
import { queryOf } from '../../http/parameters/query.ts';
import {
  COMMON_HEADERS,
  contentLanguage,
  NO_CACHE,
  type Headers,
} from '../../http/response/headers.ts';
import { preferredEncoding, type Encoding } from '../../http/negotiation.ts';
import { publicAddressOf } from '../../http/public-address.ts';
import type { Localization } from '../../http/route-description.ts';
import { parseSearchSelection } from '../../intake/selection.ts';
import type { Selection, Seq } from '../../log/log.ts';
import type { ListingScope } from '../../operations/listing-scope.ts';
import { pageSelection } from '../../operations/read-page.ts';
import { readVersion } from '../../operations/read-version.ts';
import { searchWatermarkFor } from '../../operations/search-watermark.ts';
import { localizationFor, type DoorRequest } from '../context.ts';

/** A feed at one address. */
interface FeedAddress {
  readonly scope: ListingScope;
  readonly form: FeedForm;
  readonly path: string;
}

/** What decides which cached response answers a request. */
export interface FeedRequest extends FeedAddress, Localization {
  readonly encoding: Encoding | undefined;
  /** The gateway's address, for absolute links. */
  readonly base: string;
  readonly head: Seq;
  /** The seq up to which words are indexed, where the request searches. */
  readonly watermark: Seq | undefined;
  /** See `readVersion`. */
  readonly version: string;
}

/** A request whose parameters were read. */
export interface FeedQuery extends FeedRequest {
  readonly parameters: URLSearchParams;
  readonly selection: Selection;
  readonly tag: string;
  /** The headers of every answer to it, a 304 too. */
  readonly headers: Headers;
}

export function feedRequest(context: DoorRequest, address: FeedAddress): FeedRequest {
  const { app, request } = context;
  return {
    ...address,
    encoding: preferredEncoding(request.headers['accept-encoding']),
    ...localizationFor(context),
    base: publicAddressOf(context),
    head: app.log.head(),
    watermark: searchWatermarkFor(app.log, request.url ?? ''),
    version: readVersion(app.log),
  };
}

/** The key of the answer in the response cache, where the head counts as well. */
export function cacheKeyOf(wanted: FeedRequest, url: string): string {
  const { form, encoding, locale, base, watermark, version } = wanted;
  return `${form} ${encoding ?? ''} ${locale ?? ''} ${base} ${watermark ?? ''} ${version} ${url}`;
}

/** Throws for parameters that cannot be used. */
export async function feedQuery(
  { app, request }: DoorRequest,
  wanted: FeedRequest,
): Promise<FeedQuery> {
  const { scope, locale, head } = wanted;
  const parameters = queryOf(request);
  const { grammar, log } = app;
  const selected = await parseSearchSelection(parameters, { ...scope, grammar, log });
  const tag = tagOf(app.log.id, app.languageHash, wanted);
  return {
    ...wanted,
    parameters,
    selection: pageSelection(selected, parameters, head),
    tag,
    headers: { ETag: tag, ...NO_CACHE, ...contentLanguage(locale, 'Accept'), ...COMMON_HEADERS },
  };
}

/** Weak: encodings of the same page share it. */
function tagOf(logId: string, languageHash: string, wanted: FeedRequest): string {
  const { form, locale, base, head, watermark, version } = wanted;
  const variant = `${base} ${languageHash} ${locale ?? ''} ${watermark ?? ''} ${version}`;
  return `W/"${logId.slice(0, 8)}-${head}-${form}-${contentHash(Buffer.from(variant))}"`;
}
