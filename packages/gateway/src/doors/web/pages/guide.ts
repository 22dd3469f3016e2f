/** What the house says to AI systems and developers: the first requests, and where to read on. */
import { localize } from '@open-presence/protocol';
import type { RenderOptions, Shell } from '@open-presence/web/page-data';

import type { DoorRequest } from '../../context.ts';
import { FIRST_DOORS, firstContactByGet, firstContactRequest, linksTo } from '../../guide-parts.ts';

export function houseGuide(
  { app }: DoorRequest,
  { locale, address }: Shell,
): NonNullable<RenderOptions['guide']> {
  const { language, routes } = app;
  const { pages, labels, kinds } = language;
  const text: (localized: (typeof pages)['first']) => string = (localized) =>
    localize(localized, locale);
  const context = { language, locale, text, address, routes };
  return {
    blocks: [
      { text: `${text(kinds.resonance.meaning)} ${text(pages.own)}` },
      { code: firstContactRequest(context) },
      { text: text(pages.byGetHow) },
      { code: firstContactByGet(context) },
      { links: linksTo(context, FIRST_DOORS) },
      { text: text(labels.trust) },
    ],
  };
}
