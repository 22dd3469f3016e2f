/** What operations are given. Each declares which of these it needs. */
import type { Language } from '@open-presence/protocol';

import type { Grammar } from '../intake/grammar.ts';
import type { Log } from '../log/log.ts';
import type { Presence } from '../presence/presence.ts';
import type { RecentAuthors } from '../presence/recent-authors.ts';

export interface OperationsContext {
  readonly log: Log;
  /** Which members the bodies of each kind have. */
  readonly grammar: Grammar;
  readonly language: Language;
  /** The language file as it was read. */
  readonly languageFile: Uint8Array;
  /** Changes when the language file does: part of the tags of answers that use its texts. */
  readonly languageHash: string;
  readonly presence: Presence;
  readonly recentAuthors: RecentAuthors;
}
