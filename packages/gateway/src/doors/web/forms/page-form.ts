/**
 * What all forms of pages without scripts have in common (PROTOCOL.md section 7.10): a form that is taken leads
 * to a page, and a refused one is sent back with everything that was typed.
 */
import type { GatewayError } from '@open-presence/protocol';
import type { FormProblem, PageData, FieldValues } from '@open-presence/web/page-data';
import { renderPage } from '@open-presence/web/renderer';

import { isDisconnected } from '../../../http/context.ts';
import { queryOf } from '../../../http/parameters/query.ts';
import { discardBody } from '../../../http/request/request-body.ts';
import { COMMON_HEADERS, NO_STORE, vary } from '../../../http/response/headers.ts';
import { problemOf, RETRY_AFTER } from '../../../http/response/problem.ts';
import { sendResponse } from '../../../http/response/response.ts';
import type { DoorRequest } from '../../context.ts';
import { PAGE_TYPE, pageHeaders } from '../send-page.ts';
import { PostedForm } from './posted-form.ts';

interface FormActions {
  /** Resolves with the address of the page that follows. */
  readonly store: (form: PostedForm) => Promise<string>;
  /** Makes the page with the refused form, which has what was typed. */
  readonly refuse: (typed: FieldValues, error: GatewayError) => PageData;
}

export async function receiveForm(
  context: DoorRequest,
  { store, refuse }: FormActions,
): Promise<void> {
  const { request, response } = context;
  let form: PostedForm;
  try {
    form = await PostedForm.receive(request);
  } catch (error) {
    discardBody(request);
    throw error;
  }
  let location: string;
  try {
    location = await store(form);
  } catch (error) {
    if (isDisconnected(context)) return;
    const problem = problemOf(context, error);
    await sendRefusedForm(context, refuse(await form.values(), problem), problem);
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

async function sendRefusedForm(
  context: DoorRequest,
  data: PageData,
  { status }: GatewayError,
): Promise<void> {
  await sendResponse(context, {
    status,
    type: PAGE_TYPE,
    headers: {
      ...pageHeaders(data.shell),
      ...NO_STORE,
      ...(status >= 500 ? { 'Retry-After': RETRY_AFTER } : {}),
    },
    body: Buffer.from(renderPage(data)),
  });
}
