/** Loads the language in a thread of its own, which takes the memory of the parser with it. */
import type { Language } from '@open-presence/protocol';

import { postedBy, threadModule } from './thread-module.ts';

/** A language, and the bytes that it was read from. */
export interface LoadedLanguage {
  readonly language: Language;
  readonly text: Uint8Array;
}

/** Without a path: the packaged language. Rejects with an error that names the file, and all that is wrong with it. */
export async function loadLanguage(path: string | undefined): Promise<LoadedLanguage> {
  const module = threadModule('./language-thread', import.meta.url);
  return (await postedBy(module, path)) as LoadedLanguage;
}
