/** The query parameters of listings, in the order in which the language file describes them. */
import { SELECTOR_NAMES } from '@open-presence/protocol';

export const LISTING_PARAMETERS: readonly string[] = [
  'order',
  'limit',
  'after',
  'before',
  'since',
  'until',
  'room',
  'kind',
  ...SELECTOR_NAMES,
  'q',
  'as',
  'wait',
];
