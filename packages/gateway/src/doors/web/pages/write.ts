/** The page `/write`: a form by itself, for visitors without scripts. */
import { randomUUID } from 'node:crypto';

import { GatewayError, isKind, KINDS, quoted, type Kind } from '@open-presence/protocol';
import type { Shell } from '@open-presence/web/page-data';
import { queryIn } from '@open-presence/web/renderer';

import type { Headers } from '../../../http/response/headers.ts';
import type { DoorRequest } from '../../context.ts';
import type { PageContent } from '../page-route.ts';

/** The form has an idempotency key of its own, so nobody else may get it. The browser may show it again. */
export const PRIVATE: Headers = { 'Cache-Control': 'private, no-cache' };

export function createPage({ app }: DoorRequest, shell: Shell): PageContent {
  const query = queryIn(shell);
  const kind = query.get('kind') ?? 'garden';
  if (!isKind(kind)) {
    const detail = `Cannot show a form for ${quoted(kind)}: the kinds are ${KINDS.join(', ')}.`;
    throw new GatewayError('unknown-kind', detail, { known: KINDS }, 404);
  }
  const room = query.get('room');
  const inReplyTo = query.get('inReplyTo');
  const to = query.getAll('to');
  const { title, meaning } = shell.kinds[kind];
  return {
    status: 200,
    headers: PRIVATE,
    data: {
      page: 'write',
      shell,
      title,
      description: meaning,
      unlisted: true,
      kind,
      ...(room === null || !app.grammar.rooms.has(room) ? {} : { room }),
      ...(inReplyTo === null ? {} : { inReplyTo }),
      ...(to.length === 0 ? {} : { to }),
      returnTo: query.get('page') ?? '/entries/{id}',
      idempotencyKey: newIdempotencyKey(),
    },
  };
}

export function newIdempotencyKey(): string {
  return randomUUID();
}

/** Path and query of the page for this kind. */
export function writePath(kind: Kind): string {
  return `/write?kind=${kind}`;
}
