/** JSON Schemas (draft 2020-12) of the documents on the wire. */
export { DiscoverySchema, FirstContactSchema } from './discovery.ts';
export { EntrySchema } from './entry.ts';
export { LanguageSchema } from '../language/language-schema.ts';
export {
  CheckpointSchema,
  ListingSchema,
  RoomListingSchema,
  RoomSchema,
  RoomsSchema,
  SearchSchema,
  WithheldSchema,
  WithholdingSchema,
} from './listing.ts';
export { PresenceSchema, PresentSchema } from './presence.ts';
export { ProblemSchema } from './problem.ts';
export { StatusSchema } from './status.ts';
