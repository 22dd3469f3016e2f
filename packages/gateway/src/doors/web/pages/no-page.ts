/** What stands for a page at an address that has none. */
import { GatewayError, quoted } from '@open-presence/protocol';

import type { DoorRequest } from '../../context.ts';

export function createPage({ request }: DoorRequest): never {
  throw new GatewayError('not-found', `There is no page at ${quoted(request.url ?? '')}.`);
}
