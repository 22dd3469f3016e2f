/** The words of all languages, for the server. The script of a page loads those of one. */
import type { Locale } from '@open-presence/protocol';

import { en, type Words } from './en.ts';
import { uk } from './uk.ts';

export function wordsIn(locale: Locale): Words {
  return locale === 'uk' ? uk : en;
}
