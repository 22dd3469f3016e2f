/**
 * The status document (interface section 2.1): exactly seven fields, whoever asks.
 */
import type { State } from './kinds.ts';
import type { Language } from './language-schema.ts';
import { endpointsOf, say } from './language.ts';
import type { Status } from './status-schema.ts';
import type { Tongue } from './words.ts';

/** The status document at an instant, in the caller's tongue or as each text is shown. */
export function statusDocument(
  language: Language,
  state: State,
  tongue: Tongue | undefined,
  now: Date,
): Status {
  return {
    service: say(language.service, tongue),
    status: state,
    version: language.version,
    message: say(language.message, tongue),
    endpoints: endpointsOf(language),
    invitation: say(language.invitation, tongue),
    timestamp: now.toISOString(),
  };
}
