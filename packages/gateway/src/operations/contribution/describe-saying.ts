/** How to create an entry by `GET` alone (PROTOCOL.md section 16). */
import { localize, type Kind, type Language, type Locale } from '@open-presence/protocol';

import { describeFields, describeKind } from '../describe-gateway.ts';

interface SayingDescription {
  readonly kind: Kind;
  readonly title: string;
  readonly meaning: string;
  readonly how: string;
  /** The URL to request, with the values in braces replaced by the visitor's own. */
  readonly template: string;
  readonly fields: ReturnType<typeof describeFields>;
  /** Where to read what others wrote, by `GET` too. */
  readonly next: readonly string[];
}

export function describeSaying(
  language: Language,
  kind: Kind,
  locale: Locale | undefined,
): SayingDescription {
  const { title, meaning, path, fields, example } = describeKind(language, kind, locale);
  const pairs = Object.keys(example).map((name) => `${name}={${name}}`);
  return {
    kind,
    title,
    meaning,
    how: localize(language.pages.byGetHow, locale),
    template: `/api/say/${kind}?${pairs.join('&')}`,
    fields: [...fields, ...describeFields(language.common, locale)],
    next: [`${path}?limit=20`, '/api/discover'],
  };
}
