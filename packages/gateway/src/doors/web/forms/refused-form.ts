/** The page with a form that was refused: with the reason, and everything that was typed. */
import { randomUUID } from 'node:crypto';

import { localize, type GatewayError, type Kind } from '@open-presence/protocol';
import type { WritePage } from '@open-presence/web/page-data';
import { renderPage } from '@open-presence/web/renderer';

import { queryOf } from '../../../http/query.ts';
import { NO_STORE, type Headers } from '../../../http/response/headers.ts';
import { RETRY_AFTER } from '../../../http/response/problem.ts';
import { sendBody } from '../../../http/response/response-writer.ts';
import type { DoorRequest } from '../../context.ts';
import { fieldHtml, otherFieldsHtml, shortFields } from './field-texts.ts';
import type { PostedForm } from './posted-form.ts';
import { PAGE_TYPE, pageHeaders } from '../send-page.ts';
import { shellOf } from '../shell.ts';
import { newIdempotencyKey, writePath } from '../pages/write.ts';

interface RefusedForm {
  readonly kind: Kind;
  readonly form: PostedForm;
  readonly error: GatewayError;
}

const KEY = 'idempotency-key';
const HIDDEN: ReadonlySet<string> = new Set([KEY, 'room', 'inReplyTo']);
/** The slot of what has no field of its own. */
const OTHERS = '';

export async function sendRefusedForm(context: DoorRequest, refused: RefusedForm): Promise<void> {
  const { kind, form, error } = refused;
  const data = await pageData(context, refused);
  const names = [...data.shell.kinds[kind].fields.map(({ name }) => name), 'to', OTHERS];
  // Nobody can know it beforehand, and write it.
  const token = randomUUID();
  const slots = Object.fromEntries(names.map((name, index) => [name, `${token}-${index}-`]));
  // HTML drops the first line break of a text area.
  if (slots['text'] !== undefined) slots['text'] = `\n${slots['text']}`;
  const html = renderPage(data, { slots });
  const shown = new Set([...names, ...HIDDEN]);
  const retry: Headers = error.status >= 500 ? { 'Retry-After': RETRY_AFTER } : {};
  context.response.writeHead(error.status, {
    'Content-Type': PAGE_TYPE,
    ...pageHeaders(data.shell),
    ...NO_STORE,
    ...retry,
  });
  await sendBody(
    context,
    undefined,
    fill(html, token, (index) => {
      const name = names[index] ?? OTHERS;
      return name === OTHERS ? otherFieldsHtml(form, shown) : fieldHtml(form, name);
    }),
  );
}

async function pageData(
  context: DoorRequest,
  { kind, form, error }: RefusedForm,
): Promise<WritePage> {
  const { app, request } = context;
  const shell = { ...shellOf(context), url: writePath(kind) };
  const typed = await shortFields(form, HIDDEN);
  const room = typed.get('room');
  const inReplyTo = typed.get('inReplyTo');
  const title = localize(app.language.errors[error.code], shell.locale);
  // An entry may be stored although that could not be said: its key must stay the same then.
  const key = error.code === 'idempotency-conflict' ? undefined : typed.get(KEY);
  const { message: detail, extensions } = error;
  const { faults } = extensions;
  return {
    page: 'write',
    shell,
    title: shell.kinds[kind].title,
    description: shell.kinds[kind].meaning,
    unlisted: true,
    kind,
    ...(room === undefined || !app.grammar.rooms.has(room) ? {} : { room }),
    ...(inReplyTo === undefined ? {} : { inReplyTo }),
    returnTo: queryOf(request).get('page') ?? '/entries/{id}',
    idempotencyKey: key === undefined || key === '' ? newIdempotencyKey() : key,
    problem: { title, detail, ...(faults === undefined ? {} : { faults }) },
  };
}

/** The HTML with something else in place of each `token-INDEX-`. */
async function* fill(
  html: string,
  token: string,
  slot: (index: number) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const [start = '', ...parts] = html.split(`${token}-`);
  yield Buffer.from(start);
  for (const part of parts) {
    const end = part.indexOf('-');
    yield* slot(Number(part.slice(0, end)));
    yield Buffer.from(part.slice(end + 1));
  }
}
