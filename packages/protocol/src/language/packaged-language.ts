/** The packaged language. Tests check it, so a start loads no validator: a third of the process's memory. */
import { parse } from 'yaml';

import type { Language } from './language-schema.ts';

/** Only for the text of this package's `mova-snu.yaml`: it is not validated. */
export function packagedLanguage(text: string): Language {
  return parse(text) as Language;
}
