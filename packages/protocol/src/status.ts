/** Makes the status document (interface section 2.1): exactly seven fields, for every caller. */
import type { State } from './kinds.ts';
import type { Language } from './language/language-schema.ts';
import { type Locale, localize } from './language/language.ts';
import { ROUTES } from './paths.ts';
import type { Status } from './documents.ts';

export function statusDocument(
  language: Language,
  state: State,
  locale: Locale | undefined,
  now: Date,
): Status {
  return {
    service: localize(language.service, locale),
    status: state,
    version: language.version,
    message: localize(language.message, locale),
    endpoints: ROUTES,
    invitation: localize(language.invitation, locale),
    timestamp: now.toISOString(),
  };
}
