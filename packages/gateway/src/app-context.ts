/** Creates the context of doors from what the composition root has opened. */
import { createGrammar } from './intake/grammar.ts';
import type { DoorContext } from './doors/context.ts';
import { contentHash } from './http/response/response.ts';
import type { HttpServices, StartupContext } from './http/context.ts';
import type { LoadedWords } from './load-language.ts';
import type { Log } from './log/log.ts';
import type { Mirror } from './operations/copy/mirror.ts';
import type { Notices } from './operations/notices.ts';
import type { Presence } from './presence/presence.ts';
import { RecentAuthors } from './presence/recent-authors.ts';

export interface AppParts {
  readonly startup: StartupContext;
  readonly loaded: LoadedWords;
  readonly log: Log;
  readonly presence: Presence;
  readonly temporaryFolder: string;
  readonly notices: Notices;
  readonly mirror?: Mirror | undefined;
}

export function createAppContext(parts: AppParts, services: HttpServices): DoorContext {
  const { startup, loaded, log, presence, temporaryFolder, notices, mirror } = parts;
  const { language, text, publicUrl, ownTexts } = loaded;
  services.responseCache.dropOn(() => log.withheld());
  return {
    ...startup,
    ...services,
    publicUrl,
    temporaryFolder,
    language,
    languageFile: text,
    languageHash: contentHash(text),
    ownTexts,
    ownTextsHash: contentHash(Buffer.from(JSON.stringify([...ownTexts]))),
    grammar: createGrammar(language),
    log,
    notices,
    presence,
    recentAuthors: new RecentAuthors(log, (name) => presence.isHidden(name)),
    mirror,
  };
}
