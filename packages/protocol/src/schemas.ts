/** The schemas of everything on the wire, as JSON Schema (draft 2020-12). */
export { DiscoverySchema, FirstContactSchema } from './discovery-schema.ts';
export { EntrySchema } from './entry-schema.ts';
export { LanguageSchema } from './language-schema.ts';
export {
  ListingSchema,
  RoomListingSchema,
  RoomSchema,
  RoomsSchema,
  SearchSchema,
} from './listing-schema.ts';
export { PresenceSchema } from './presence-schema.ts';
export { ProblemSchema } from './problem-schema.ts';
export { StatusSchema } from './status-schema.ts';
