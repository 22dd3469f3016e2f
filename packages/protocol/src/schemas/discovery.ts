/** Discovery (PROTOCOL.md section 10) and the answer to a first contact (section 7.2). */
import { Type, type Static } from 'typebox';

import { closedObject } from './closed-object.ts';
import { EntrySchema } from './entry.ts';
import { KINDS, STATES } from '../kinds.ts';
import { CheckpointSchema, LogSchema, NotesSchema, RoomSchema } from './listing.ts';
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

const MirrorSchema = closedObject(
  {
    origin: Type.String({ description: 'The gateway that stores entries.' }),
    state: Type.Enum(['starting', 'following', 'unreachable', 'stopped']),
    behind: Type.Integer({ minimum: 0, description: 'How many entries the mirror lacks.' }),
  },
  { description: 'Only of a gateway that mirrors another one.' },
);
export type MirrorDocument = Static<typeof MirrorSchema>;

export const DiscoverySchema = closedObject(
  {
    notes: Type.Optional(NotesSchema),
    service: Type.String(),
    status: Type.Enum([...STATES]),
    version: Type.String(),
    contact: Type.Optional(
      Type.String({ description: 'URI of whoever runs the gateway: http, https or mailto.' }),
    ),
    head: Type.Integer({ minimum: 0 }),
    log: LogSchema,
    checkpoint: CheckpointSchema,
    trust: Type.String({ description: 'How to treat what visitors write.' }),
    methods: Type.Array(Type.String(), { description: 'Of the paths of kinds.' }),
    kinds: Type.Array(KindSchema),
    common: Type.Array(FieldSchema, { description: 'Fields of every kind.' }),
    doors: Type.Array(DoorSchema, { description: 'The main paths.' }),
    parameters: Type.Record(Type.String(), Type.String(), {
      description: 'Parameters of listings, with their meaning.',
    }),
    rooms: Type.Array(RoomSchema),
    here: Type.Array(PresentSchema, { description: 'The newest arrivals of those here now.' }),
    mirror: Type.Optional(MirrorSchema),
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
