/**
 * The OpenAPI document of a gateway: every path there is, in the words of its language, with
 * examples that work when they are sent as they stand.
 */
import type { DoorContext } from '../context.ts';
import type { JsonObject, Localization } from '../../http/route-description.ts';
import { components } from './components.ts';
import { gatewayContents } from './content.ts';
import { pathItems } from './operations.ts';

/** Labels of the language by which operations are grouped. */
const TAGS = ['kinds', 'rooms', 'here', 'doors'] as const;

export async function openApiDocument(
  localization: Localization,
  app: Pick<DoorContext, 'publicUrl' | 'routes' | 'describeDoors'>,
): Promise<JsonObject> {
  const { language, text } = localization;
  const { invitation, labels, pages } = language;
  const doors = await app.describeDoors();
  const sources = {
    localization,
    contents: {
      ...gatewayContents(localization, app.routes),
      ...merged(doors.map((door) => door.content?.(localization))),
    },
    details: merged(doors.map((door) => door.operations?.(localization))),
  };
  const description = [invitation, labels.trust, pages.readingHow, pages.errorsHow];
  return {
    openapi: '3.1.0',
    info: {
      title: text(language.service),
      version: language.version,
      description: description.map(text).join('\n\n'),
    },
    servers: [{ url: app.publicUrl ?? '/' }],
    security: [],
    tags: TAGS.map((name) => ({ name, description: text(labels[name]) })),
    paths: Object.fromEntries(app.routes.flatMap((route) => pathItems(sources, route))),
    components: components(localization, merged(doors.map((door) => door.schemas))),
  };
}

function merged<Value>(
  records: readonly (Readonly<Record<string, Value>> | undefined)[],
): Record<string, Value> {
  return Object.fromEntries(records.flatMap((record = {}) => Object.entries(record)));
}
