/** Rooms, listings and search (PROTOCOL.md sections 5, 8 and 14). */
import { Type, type Static } from 'typebox';

import { closedObject } from './closed-object.ts';
import { KINDS } from '../kinds.ts';
import { EntrySchema } from './entry.ts';

export const RoomSchema = closedObject(
  {
    slug: Type.String(),
    title: Type.String(),
    description: Type.String(),
    path: Type.String({ description: 'Where to read it.' }),
    entries: Type.Integer({ minimum: 0, description: 'How many entries it has.' }),
    latest: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'The timestamp of its latest entry.',
    }),
  },
  { title: 'Room' },
);
export type RoomDocument = Static<typeof RoomSchema>;

export const NotesSchema = Type.Array(Type.String(), {
  description: 'What the gateway has to add, in plain English.',
});

export const RoomsSchema = closedObject(
  {
    notes: Type.Optional(NotesSchema),
    rooms: Type.Array(RoomSchema, { description: 'In the order of the language file.' }),
  },
  { title: 'Rooms' },
);
export type RoomsDocument = Static<typeof RoomsSchema>;

export const LogSchema = Type.String({
  description: 'The name of the log: a cursor is valid only in the log that it is from.',
});

/** PROTOCOL.md section 20.2. */
export const CheckpointSchema = closedObject(
  {
    log: LogSchema,
    head: Type.Integer({ minimum: 0, description: 'The newest seq.' }),
    link: Type.String({
      description: 'The link of that entry, in hex: it stands for all entries up to there.',
      pattern: '^[0-9a-f]{64}$',
    }),
  },
  { title: 'Checkpoint' },
);
export type Checkpoint = Static<typeof CheckpointSchema>;

const listing = {
  entries: Type.Array(EntrySchema),
  head: Type.Integer({ minimum: 0, description: 'The newest seq when the answer began.' }),
  log: LogSchema,
  known: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'With q: the seq up to which entries were searchable.',
    }),
  ),
  notes: Type.Optional(NotesSchema),
  next: Type.Union([Type.String({ format: 'uri-reference' }), Type.Null()], {
    description: 'Where to read on.',
  }),
};

export const ListingSchema = closedObject(listing, { title: 'Listing' });

export const RoomListingSchema = closedObject(
  { room: RoomSchema, ...listing },
  { title: 'Listing of a room' },
);

export const SearchSchema = closedObject(
  {
    results: Type.Array(
      closedObject({
        entry: EntrySchema,
        snippet: Type.String({ description: 'The text around the match, as plain text.' }),
      }),
    ),
    head: listing.head,
    log: LogSchema,
    known: Type.Integer({
      minimum: 0,
      description: 'The seq up to which entries were searchable.',
    }),
    rankedFrom: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'Where very many entries match: results from this seq on are ranked together, and come before those of older entries.',
      }),
    ),
    notes: listing.notes,
    next: listing.next,
  },
  { title: 'Search' },
);

export const WithholdingSchema = closedObject(
  {
    number: Type.Integer({ minimum: 1, description: 'Counts the cases: 1, 2, 3 … A cursor.' }),
    id: Type.String({ format: 'uuid' }),
    seq: Type.Integer({ minimum: 1 }),
    kind: Type.Enum([...KINDS]),
    room: Type.String(),
    timestamp: Type.String({ format: 'date-time', description: 'That of the entry.' }),
    at: Type.String({ format: 'date-time', description: 'When it was withheld.' }),
    reason: Type.String({ description: 'The words of whoever runs the gateway.' }),
  },
  { title: 'A case in which what was said in an entry was taken away' },
);
/** PROTOCOL.md section 4.7. */
export type WithholdingDocument = Static<typeof WithholdingSchema>;

export const WithheldSchema = closedObject(
  {
    notes: Type.Optional(NotesSchema),
    withheld: Type.Array(WithholdingSchema),
    count: Type.Integer({ minimum: 0, description: 'How many cases there are.' }),
    log: LogSchema,
    next: listing.next,
  },
  { title: 'What was withheld' },
);
