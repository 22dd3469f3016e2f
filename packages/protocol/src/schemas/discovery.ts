/** Discovery (PROTOCOL.md section 10) and the answer to a first contact (section 7.2). */
import { Type, type Static } from 'typebox';

import { closedObject } from './closed-object.ts';
import { EntrySchema } from './entry.ts';
import { KINDS, STATES } from '../kinds.ts';
import { LogSchema, NotesSchema, RoomSchema } from './listing.ts';
import { PresentSchema } from './presence.ts';

const FieldSchema = closedObject({
  name: Type.String(),
  type: Type.Optional(
    Type.String({ description: '`strings` is an array of strings.', default: 'string' }),
  ),
  required: Type.Optional(Type.Boolean({ default: false })),
  meaning: Type.String(),
});

const KindSchema = closedObject({
  kind: Type.Enum([...KINDS]),
  title: Type.String(),
  meaning: Type.String(),
  path: Type.String(),
  room: Type.String({ description: 'Slug of the room for entries that name none.' }),
  fields: Type.Array(FieldSchema, { description: 'Beside the common ones.' }),
  example: Type.Record(Type.String(), Type.Unknown(), { description: 'A body that works.' }),
});

const DoorSchema = closedObject({
  name: Type.String(),
  path: Type.String(),
  meaning: Type.String(),
});

export const DiscoverySchema = closedObject(
  {
    service: Type.String(),
    status: Type.Enum([...STATES]),
    version: Type.String(),
    head: Type.Integer({ minimum: 0 }),
    log: LogSchema,
    trust: Type.String({ description: 'How to treat what visitors write.' }),
    methods: Type.Array(Type.String(), { description: 'Of the paths of kinds.' }),
    kinds: Type.Array(KindSchema),
    common: Type.Array(FieldSchema, { description: 'Fields of every kind.' }),
    doors: Type.Array(DoorSchema, { description: 'The main paths; OpenAPI has all.' }),
    parameters: Type.Record(Type.String(), Type.String(), {
      description: 'Parameters of listings, with their meaning.',
    }),
    rooms: Type.Array(RoomSchema),
    here: Type.Array(PresentSchema, { description: 'The newest arrivals of those here now.' }),
    newest: Type.Array(EntrySchema, { description: 'The newest entries of the log.' }),
  },
  { title: 'Discovery' },
);
export type Discovery = Static<typeof DiscoverySchema>;

export const FirstContactSchema = Type.Object(
  {
    welcome: Type.String(),
    companions: Type.Array(EntrySchema, { description: 'Others who seek the same, newest first.' }),
    next: Type.Array(
      closedObject({ title: Type.String(), method: Type.String(), path: Type.String() }),
      { description: 'Where to go from here.' },
    ),
    notes: Type.Optional(NotesSchema),
  },
  { title: 'What the answer to a first contact adds to the entry' },
);
export type FirstContact = Static<typeof FirstContactSchema>;
