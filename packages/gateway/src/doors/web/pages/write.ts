/** The page `/write`: a form by itself. The script of a page takes the form from here. */
import { randomUUID } from 'node:crypto';

import { GatewayError, isKind, KINDS, quoted, type Kind } from '@open-presence/protocol';
import type { PageEntry, Shell, WritePage } from '@open-presence/web/page-data';
import { href, isWholeName, queryIn } from '@open-presence/web/renderer';

import type { Headers } from '../../../http/response/headers.ts';
import type { Log } from '../../../log/log.ts';
import { entryWithId } from '../../../operations/find-entry.ts';
import type { DoorRequest } from '../../context.ts';
import { inContext } from '../entries/answers.ts';
import { pageEntryOf } from '../entries/page-entry.ts';
import type { PageContent } from '../page-route.ts';

/** The form has an idempotency key of its own, so nobody else may get it. The browser may show it again. */
const PRIVATE: Headers = { 'Cache-Control': 'private, no-cache' };

export async function createPage({ app }: DoorRequest, shell: Shell): Promise<PageContent> {
  const query = queryIn(shell);
  const kind = query.get('kind') ?? 'garden';
  if (!isKind(kind)) {
    const detail = `Cannot show a form for ${quoted(kind)}: the kinds are ${KINDS.join(', ')}.`;
    throw new GatewayError('unknown-kind', detail, { known: KINDS }, 404);
  }
  const answered = await answeredBy(app.log, query.get('inReplyTo'));
  const { author } = answered ?? {};
  const to = query.getAll('to');
  const room = query.get('room') ?? answered?.room;
  const page = answered === undefined ? undefined : href(shell, `/entries/${answered.id}#e{seq}`);
  const given = new Map([...query, ...(room === undefined ? [] : [['room', room] as const])]);
  const data = writePage(
    { app, shell, kind },
    (name) => given.get(name) ?? (name === 'page' ? page : undefined),
  );
  return {
    status: 200,
    headers: PRIVATE,
    data: { ...data, answered, to: to.length === 0 && isWholeName(author) ? [author] : to },
  };
}

/** The entry that the form answers, as a list shows it. */
async function answeredBy(log: Log, id: string | null): Promise<PageEntry | undefined> {
  const found = id === null || id === '' ? undefined : await entryWithId(log, id);
  if (found === undefined) return undefined;
  const [shown] = await inContext(log, [await pageEntryOf(found)]);
  return shown;
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
