/** Where the gateway puts what was typed into a form that it sends back: by the name of a field. */
import { createContext, type Context } from 'preact';

export type Slots = Readonly<Record<string, string>>;

/** On the server only. A slot is a text that the gateway replaces in the HTML. */
export const SlotsContext: Context<Slots> = createContext<Slots>({});

/** The slot for what was sent beside the fields of the form. */
export const OTHER_FIELDS = '';
