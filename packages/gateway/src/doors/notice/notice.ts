/** Notices to the owner (PROTOCOL.md section 23): they are received, and their state is told. */
import { isDisconnected } from '../../http/context.ts';
import { notesIn, takenNames } from '../../http/parameters/parameter-check.ts';
import { bodyChunks, discardBody } from '../../http/request/request-body.ts';
import { JSON_TYPE, NO_STORE } from '../../http/response/headers.ts';
import { jsonBody, sendResponse } from '../../http/response/response.ts';
import { FormConverter } from '../../intake/forms/form-body.ts';
import { NOTICE_FORM, NOTICE_PATH } from '../../operations/notices.ts';
import type { DoorRequest, ProtocolDoor } from '../context.ts';

export const noticeDoor: ProtocolDoor = {
  routes: [
    {
      path: NOTICE_PATH,
      get: [],
      post: receiveNotice,
      postParameters: takenNames(['as', 'page']),
      instead: (method) =>
        method === 'GET'
          ? `To tell the owner something in private, POST it to ${NOTICE_PATH}.`
          : undefined,
    },
    {
      path: `${NOTICE_PATH}/{number}`,
      get: [{ type: 'application/json', handle: noticeState }],
      description: { id: 'notice', parameters: ['as'] },
    },
  ],
};

async function receiveNotice(context: DoorRequest): Promise<void> {
  const { app, request } = context;
  try {
    const form = new FormConverter(request.headers['content-type'], NOTICE_FORM);
    const number = await app.notices.receive(form.convertChunks(bodyChunks(request)));
    if (isDisconnected(context)) return;
    const path = `${NOTICE_PATH}/${number}`;
    const body = { ...(await app.notices.state(number)), path, ...notesIn(request) };
    await send(context, 201, body, { Location: path });
  } finally {
    discardBody(request);
  }
}

async function noticeState(context: DoorRequest): Promise<void> {
  await send(context, 200, await context.app.notices.existing(context.params['number'] ?? ''));
}

async function send(
  context: DoorRequest,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const own = { ...NO_STORE, ...headers };
  await sendResponse(context, { status, type: JSON_TYPE, headers: own, body: jsonBody(body) });
}
