/** The pages `/notice`, a form, and `/notice/{number}`, what became of a notice. */
import type { NoticePage, Shell } from '@open-presence/web/page-data';
import { pageTexts, queryIn } from '@open-presence/web/renderer';

import type { DoorRequest } from '../../context.ts';
import type { PageContent } from '../page-route.ts';

export async function createPage({ app, params }: DoorRequest, shell: Shell): Promise<PageContent> {
  const { number } = params;
  if (number === undefined) {
    return { data: noticePage(shell, { about: queryIn(shell).get('about') ?? undefined }) };
  }
  // It changes without the log.
  return { status: 200, data: noticePage(shell, { notice: await app.notices.existing(number) }) };
}

export function noticePage(
  shell: Shell,
  content: Pick<NoticePage, 'about' | 'notice' | 'problem' | 'typed'>,
): NoticePage {
  return {
    page: 'notice',
    shell,
    ...pageTexts('notice', shell.locale),
    unlisted: true,
    ...content,
  };
}
