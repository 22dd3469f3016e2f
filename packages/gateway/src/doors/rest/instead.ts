/** What to do instead of a method that a resource does not take: sentences for the 405. */
import { KINDS } from '@open-presence/protocol';

import type { RequestContext } from '../../http/context.ts';

type Params = RequestContext['params'];
type Instead = (method: string, params: Params) => string | undefined;

const PERMANENT =
  'Entries are permanent: visitors can neither change nor remove them. To correct or withdraw one, POST another entry with "inReplyTo". Only whoever runs the gateway can withhold one.';
const POST_PATHS = KINDS.map((kind) => `/api/${kind}`).join(', ');

/** `create`: how to add an entry there, for a resource that is only read. */
export function insteadOn(
  create: (params: Params) => string | undefined = () => undefined,
): Instead {
  return (method, params) => (method === 'POST' ? create(params) : PERMANENT);
}

export const insteadOnRoom: Instead = insteadOn(
  ({ slug = '' }) =>
    `To add an entry to this room, POST it to /api/garden (or ${POST_PATHS}) with ${JSON.stringify({ room: slug })} among its members.`,
);

export const insteadOnReplies: Instead = insteadOn(
  ({ id = '' }) =>
    `To reply, POST an entry to one of ${POST_PATHS} with ${JSON.stringify({ inReplyTo: id })} among its members.`,
);

export const insteadOnEntries: Instead = insteadOn(
  () => `To add an entry, POST it to one of ${POST_PATHS}.`,
);

export const insteadOnStatus: Instead = (method) =>
  method === 'POST'
    ? `POST a first contact to /api/resonance: {"ai_identity":"…","seeking":["presence"]}. Other entries go to one of ${POST_PATHS}.`
    : undefined;

export const insteadOnSay: Instead = insteadOn(({ kind = 'garden' }) => {
  const post = KINDS.some((known) => known === kind) ? kind : 'garden';
  return `POST the same members as a JSON body to /api/${post}, or GET this path with the members as parameters.`;
});
