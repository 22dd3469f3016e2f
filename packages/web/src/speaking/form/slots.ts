/**
 * Slots: texts in the HTML of a form that the gateway replaces with what was typed, by the name of the field.
 * They let it send a form back without rendering what may be large.
 */
import { createContext, type Context } from 'preact';

export type Slots = Readonly<Record<string, string>>;

/** Empty in browsers. */
export const SlotsContext: Context<Slots> = createContext<Slots>({});

/** The slot for sent members that have no field in the form. */
export const OTHER_FIELDS = '';
