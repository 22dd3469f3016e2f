/**
 * The OpenAPI document of a gateway: every path there is, in the words of its language, with
 * examples that work when they are sent as they stand.
 */
import { localize } from '@open-presence/protocol';

import { AGENT_SCHEMAS } from './agent-schemas.ts';
import { componentsOf, type Json, type Voice } from './components.ts';
import { FEED_SCHEMAS } from './feeds.ts';
import { itemsOf } from './operations.ts';
import type { RouteSummary } from '../../http/context.ts';

/** Labels of the language by which operations are grouped. */
const TAGS = ['kinds', 'rooms', 'here', 'doors'] as const;

/** Of the gateway at this address, if the operator gave one. */
export function openApiOf(
  voice: Voice,
  routes: readonly RouteSummary[],
  publicUrl: string | undefined,
): Json {
  const { language, locale } = voice;
  const { invitation, labels, pages } = language;
  const description = [invitation, labels.trust, pages.readingHow, pages.errorsHow];
  return {
    openapi: '3.1.0',
    info: {
      title: localize(language.service, locale),
      version: language.version,
      description: description.map((words) => localize(words, locale)).join('\n\n'),
    },
    servers: [{ url: publicUrl ?? '/' }],
    security: [],
    tags: TAGS.map((name) => ({ name, description: localize(labels[name], locale) })),
    paths: Object.fromEntries(routes.flatMap((route) => itemsOf(voice, route))),
    components: componentsOf(voice, { ...FEED_SCHEMAS, ...AGENT_SCHEMAS }),
  };
}
