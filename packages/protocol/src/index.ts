/**
 * The wire contract: entries, kinds, rooms, the language, errors, and the shapes of answers.
 *
 * Owns every spelling that goes over the wire. Refuses to know transport and storage: no I/O,
 * nothing of Node's, so that it runs in a browser as it is.
 */
export * from './discovery.ts';
export * from './entry.ts';
export * from './kinds.ts';
export * from './language-file.ts';
export * from './language-schema.ts';
export * from './language.ts';
export * from './listing.ts';
export * from './problem.ts';
export * from './status.ts';
export * from './words-schema.ts';

/**
 * The one constant of the wire (PROTOCOL.md section 1.2): how many bytes a request line and its
 * headers may take together.
 */
export const MAX_HEADER_SIZE: number = 64 * 1024 * 1024;
