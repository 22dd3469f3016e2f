/**
 * The language that comes with the gateway. It is held to its schema by tests, so that a start
 * with it needs neither the schema nor what checks it: together they weigh a third of the process.
 */
import { parse } from 'yaml';

import type { Language } from './language-schema.ts';

/** `text`: that of `mova-snu.yaml` beside this package; any other belongs to `parseLanguage`. */
export function packagedLanguage(text: string): Language {
  return parse(text) as Language;
}
