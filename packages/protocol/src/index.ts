/**
 * The wire contract: entries, kinds, rooms, the language, errors, and the shapes of answers.
 *
 * Owns every spelling that goes over the wire. Knows neither transport nor storage: it uses no I/O and no
 * Node APIs, so it runs in a browser. The schema of the language file (`./language-schema`) and its
 * parser (`./language-file`) have entry points of their own, since they are slow to load and most users
 * of the protocol need neither. This file must not import typebox, directly or indirectly.
 */
export type * from './documents.ts';
export * from './entry.ts';
export type * from './language/field-schema.ts';
export * from './kinds.ts';
export type * from './language/language-schema.ts';
export * from './language/language.ts';
export * from './portable-json.ts';
export * from './problem.ts';
export * from './status.ts';
export * from './paths.ts';
export * from './text-direction.ts';
export * from './weighted-list.ts';

/** The greatest size of a request line and its headers together, in bytes (PROTOCOL.md section 1.2). */
export const MAX_HEADER_SIZE: number = 1024 * 1024;
