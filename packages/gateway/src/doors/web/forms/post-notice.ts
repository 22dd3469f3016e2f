/** Receives a notice that was written on a page (PROTOCOL.md section 23). */
import { FormConverter } from '../../../intake/forms/form-body.ts';
import { NOTICE_FORM } from '../../../operations/notices.ts';
import type { DoorRequest } from '../../context.ts';
import { noticePage } from '../pages/notice.ts';
import { shellOf } from '../shell.ts';
import { ownPath, pageIn, problemIn, receiveForm } from './page-form.ts';

export async function postNotice(context: DoorRequest): Promise<void> {
  const { app, request } = context;
  await receiveForm(context, {
    async store(form) {
      const converter = new FormConverter(request.headers['content-type'], NOTICE_FORM, true);
      const number = await app.notices.receive(converter.convertChunks(form.chunks()));
      return ownPath(pageIn(context).replaceAll('{number}', number)) ?? `/notice/${number}`;
    },
    refuse(typed, error) {
      const shell = { ...shellOf(context), url: '/notice' };
      return noticePage(shell, { problem: problemIn(error), typed });
    },
  });
}
