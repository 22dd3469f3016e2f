/**
 * What all forms of pages without scripts have in common (PROTOCOL.md section 7.10): a form that is taken leads
 * to a page, and a refused one is sent back with everything that was typed.
 */
import { randomUUID } from 'node:crypto';

import type { GatewayError } from '@open-presence/protocol';
import type { FormProblem, PageData } from '@open-presence/web/page-data';
import { renderPage } from '@open-presence/web/renderer';

import { isDisconnected } from '../../../http/context.ts';
import { queryOf } from '../../../http/parameters/query.ts';
import { discardBody } from '../../../http/request/request-body.ts';
import { COMMON_HEADERS, NO_STORE, vary } from '../../../http/response/headers.ts';
import { problemOf, RETRY_AFTER } from '../../../http/response/problem.ts';
import { sendBody } from '../../../http/response/response-writer.ts';
import type { DoorRequest } from '../../context.ts';
import { PAGE_TYPE, pageHeaders } from '../send-page.ts';
import { fieldHtml, otherFieldsHtml } from './field-texts.ts';
import { PostedForm } from './posted-form.ts';

interface FormActions {
  /** Resolves with the address of the page that follows. */
  readonly store: (form: PostedForm) => Promise<string>;
  /** Makes the page with the refused form. */
  readonly refuse: (form: PostedForm, error: GatewayError) => FormPage | Promise<FormPage>;
}

export interface FormPage {
  readonly data: PageData;
  readonly fields: readonly string[];
  /** Fields that are not shown. */
  readonly hidden?: ReadonlySet<string>;
}

export async function receiveForm(
  context: DoorRequest,
  { store, refuse }: FormActions,
): Promise<void> {
  const { app, request, response } = context;
  let received: PostedForm;
  try {
    received = await PostedForm.receive(request, app.temporaryFolder);
  } catch (error) {
    discardBody(request);
    throw error;
  }
  await using form = received;
  let location: string;
  try {
    location = await store(form);
  } catch (error) {
    if (isDisconnected(context)) return;
    const problem = problemOf(context, error);
    await sendRefusedForm(context, { ...(await refuse(form, problem)), form, problem });
    return;
  }
  if (isDisconnected(context)) return;
  response.writeHead(303, {
    Location: location,
    'Content-Length': 0,
    ...COMMON_HEADERS,
    ...NO_STORE,
    ...vary('Accept'),
  });
  response.end();
}

/** The page that the form asks for, which may have variable parts in braces. */
export function pageIn({ request }: DoorRequest): string {
  return queryOf(request).get('page') ?? '';
}

const HERE = 'http://localhost';

/** The path of a page of this gateway, undefined for any other address. */
export function ownPath(path: string): string | undefined {
  const url = URL.canParse(path, HERE) ? new URL(path, HERE) : undefined;
  // Two slashes begin the name of a host.
  const isHere = url?.origin === HERE && path.startsWith('/') && !url.pathname.startsWith('//');
  return isHere ? url.pathname + url.search + url.hash : undefined;
}

export function problemIn({ message: detail, extensions: { faults } }: GatewayError): FormProblem {
  return { detail, ...(faults === undefined ? {} : { faults }) };
}

/** The slot of what has no field of its own. */
export const OTHER_FIELDS = '';

interface RefusedForm extends FormPage {
  readonly form: PostedForm;
  readonly problem: GatewayError;
}

async function sendRefusedForm(
  context: DoorRequest,
  { form, problem, data, fields, hidden = new Set() }: RefusedForm,
): Promise<void> {
  // Nobody can know it beforehand, and write it.
  const token = randomUUID();
  const slots = Object.fromEntries(fields.map((name, index) => [name, `${token}-${index}-`]));
  // HTML drops the first line break of a text area.
  for (const name of ['text', 'why']) {
    if (slots[name] !== undefined) slots[name] = `\n${slots[name]}`;
  }
  const shown = new Set([...fields, ...hidden]);
  const html = fill(renderPage(data, { slots }), token, (index) => {
    const name = fields[index] ?? OTHER_FIELDS;
    return name === OTHER_FIELDS ? otherFieldsHtml(form, shown) : fieldHtml(form, name);
  });
  context.response.writeHead(problem.status, {
    'Content-Type': PAGE_TYPE,
    ...pageHeaders(data.shell),
    ...NO_STORE,
    ...(problem.status >= 500 ? { 'Retry-After': RETRY_AFTER } : {}),
  });
  await sendBody(context, undefined, html);
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
