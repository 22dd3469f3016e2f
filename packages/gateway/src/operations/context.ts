/** What operations work on. Each declares which members it needs. */
import type { Language } from '@open-presence/protocol';

import type { Grammar } from '../intake/grammar.ts';
import type { Log } from '../log/log.ts';
import type { Mirror } from './copy/mirror.ts';
import type { Notices } from './notices.ts';
import type { Presence } from '../presence/presence.ts';
import type { RecentAuthors } from '../presence/recent-authors.ts';

export interface OperationsContext {
  readonly log: Log;
  /** The members of entries of each kind. */
  readonly grammar: Grammar;
  readonly language: Language;
  /** The bytes of the language file. */
  readonly languageFile: Uint8Array;
  /** Hash of the language file: part of the tags of responses that contain its texts. */
  readonly languageHash: string;
  /** By name: Markdown that the operator has written for visitors. */
  readonly ownTexts: ReadonlyMap<string, string>;
  /** Hash of these texts: part of the tags of pages. */
  readonly ownTextsHash: string;
  readonly notices: Notices;
  readonly presence: Presence;
  readonly recentAuthors: RecentAuthors;
  /** Set where the log is a copy of another gateway's: nothing is stored here then. */
  readonly mirror?: Mirror | undefined;
}
