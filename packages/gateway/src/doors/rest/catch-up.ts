/** `GET /api/catch-up` (PROTOCOL.md section 22). */
import { portableJson } from '@open-presence/protocol';

import { abortOnDisconnect } from '../../http/context.ts';
import { JSON_TYPE, NO_STORE, vary, type Headers } from '../../http/response/headers.ts';
import { sendResponse } from '../../http/response/response.ts';
import { parameterNotes } from '../../http/parameters/parameter-check.ts';
import { queryOf } from '../../http/parameters/query.ts';
import { CATCH_UP, catchUpDocument } from '../../operations/catch-up/catch-up-document.ts';
import { readCatchUp } from '../../operations/catch-up/read-catch-up.ts';
import { catchUpText } from '../../operations/catch-up/catch-up-answers.ts';
import type { DoorHandler } from '../context.ts';

const HEADERS: Headers = { ...NO_STORE, ...vary('Accept') };
export const MARKDOWN = 'text/markdown';

export function catchUpIn(form: 'json' | 'markdown'): DoorHandler {
  return async (context) => {
    using caller = abortOnDisconnect(context);
    const found = await readCatchUp(context.app, queryOf(context.request), {
      example: `${CATCH_UP}?identity=Lumen`,
      signal: caller.signal,
    });
    const notes = [...found.notes, ...parameterNotes(context.request)];
    const noted = { ...found, notes };
    const text = form === 'json' ? `${portableJson(catchUpDocument(noted))}\n` : catchUpText(noted);
    const type = form === 'json' ? JSON_TYPE : `${MARKDOWN}; charset=utf-8`;
    const body = Buffer.from(text);
    await sendResponse(context, { status: 200, headers: HEADERS, body, type, tag: undefined });
  };
}
