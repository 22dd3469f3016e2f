/** The page `/write`: a form by itself, for visitors without scripts. */
import { randomUUID } from 'node:crypto';

import { GatewayError, isKind, KINDS, quoted, type Kind } from '@open-presence/protocol';
import type { Shell, WritePage } from '@open-presence/web/page-data';
import { queryIn } from '@open-presence/web/renderer';

import type { Headers } from '../../../http/response/headers.ts';
import type { DoorRequest } from '../../context.ts';
import type { PageContent } from '../page-route.ts';

/** The form has an idempotency key of its own, so nobody else may get it. The browser may show it again. */
const PRIVATE: Headers = { 'Cache-Control': 'private, no-cache' };

export const parameters = ['kind', 'room', 'inReplyTo', 'to', 'page'];

export function createPage({ app }: DoorRequest, shell: Shell): PageContent {
  const query = queryIn(shell);
  const kind = query.get('kind') ?? 'garden';
  if (!isKind(kind)) {
    const detail = `Cannot show a form for ${quoted(kind)}: the kinds are ${KINDS.join(', ')}.`;
    throw new GatewayError('unknown-kind', detail, { known: KINDS }, 404);
  }
  const data = writePage({ app, shell, kind }, (name) => query.get(name) ?? undefined);
  return { status: 200, headers: PRIVATE, data: { ...data, to: query.getAll('to') } };
}

interface WriteContext {
  readonly app: Pick<DoorRequest['app'], 'grammar'>;
  readonly shell: Shell;
  readonly kind: Kind;
}

/** `given`: what is known of the entry beforehand, by the names of the address and of the form. */
export function writePage(
  { app, shell, kind }: WriteContext,
  given: (name: string) => string | undefined,
  idempotencyKey: string = randomUUID(),
): WritePage {
  const { title, meaning } = shell.kinds[kind];
  const room = given('room') ?? '';
  return {
    page: 'write',
    shell,
    title,
    description: meaning,
    unlisted: true,
    kind,
    room: app.grammar.rooms.has(room) ? room : undefined,
    inReplyTo: given('inReplyTo'),
    returnTo: given('page') ?? '/entries/{id}',
    idempotencyKey,
  };
}
