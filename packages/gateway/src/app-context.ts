/** Creates the context of doors from what the composition root has opened. */
import { createGrammar } from './intake/grammar.ts';
import type { DoorContext } from './doors/context.ts';
import { contentHash } from './http/response/response.ts';
import type { HttpServices, StartupContext } from './http/context.ts';
import type { LoadedLanguage } from './load-language.ts';
import type { Log } from './log/log.ts';
import type { Presence } from './presence/presence.ts';
import { RecentAuthors } from './presence/recent-authors.ts';

export interface AppParts {
  readonly startup: StartupContext;
  readonly loaded: LoadedLanguage;
  readonly log: Log;
  readonly presence: Presence;
  readonly temporaryFolder: string;
}

export function createAppContext(parts: AppParts, services: HttpServices): DoorContext {
  const { startup, loaded, log, presence, temporaryFolder } = parts;
  // Substrings of a text with Cyrillic letters take two bytes a character, and so would each entry that
  // contains them. Copies of those that are ASCII take one.
  const copied: unknown = JSON.parse(JSON.stringify(loaded.language));
  const language = Object.assign({ ...loaded.language }, copied);
  return {
    ...startup,
    ...services,
    temporaryFolder,
    language,
    languageFile: loaded.text,
    languageHash: contentHash(loaded.text),
    grammar: createGrammar(language),
    log,
    presence,
    recentAuthors: new RecentAuthors(log),
  };
}
