/** What the gateway says on the reference page. */
import type { Locale } from '@open-presence/protocol';

export interface ReferenceData {
  readonly locale: Locale;
  readonly title: string;
  readonly withoutScripts: string;
  readonly furtherReading: readonly { readonly path: string; readonly text: string }[];
  /** Where the gateway's root is, seen from the page: `.`, or `..` if the page's path ends with a slash. */
  readonly root: string;
}
