/** Words: one text in every tongue, as every human text of the language is written. */

/** The tongues that every text is written in. */
export const TONGUES = ['uk', 'en'] as const;
export type Tongue = (typeof TONGUES)[number];

export interface Words {
  readonly uk: string;
  readonly en: string;
  /** Which of the two is given to a caller that asks for neither; `en` if it isn't said. */
  readonly shown?: Tongue;
}
