/**
 * The wire contract: entries, kinds, rooms, the language, errors, and the shapes of answers.
 *
 * Owns every spelling that goes over the wire. Refuses to know transport and storage: no I/O,
 * nothing of Node's, so that it runs in a browser as it is. The schemas have a door of their own
 * (`./schemas`), and so has the parser of the language file (`./language-file`): they are heavy to
 * load, and most who speak the protocol need neither. Keep this file free of what imports typebox.
 */
export type * from './schemas/discovery.ts';
export * from './entry.ts';
export type * from './language/field-schema.ts';
export * from './kinds.ts';
export type * from './language/language-schema.ts';
export * from './language/language.ts';
export type * from './schemas/listing.ts';
export type * from './schemas/presence.ts';
export * from './problem.ts';
export type * from './schemas/status.ts';
export * from './status.ts';
export * from './language/localized-text.ts';
export * from './paths.ts';
export * from './weighted-list.ts';

/**
 * The one constant of the wire (PROTOCOL.md section 1.2): how many bytes a request line and its
 * headers may take together.
 */
export const MAX_HEADER_SIZE: number = 16 * 1024 * 1024;
