/** Discovery (PROTOCOL.md section 10) and the answer to a first contact (section 7.2). */
import { Type, type Static } from 'typebox';

import { closedObject } from './closed-object.ts';
import { EntrySchema } from './entry.ts';
import { KINDS, STATES } from '../kinds.ts';
import { LogSchema, NotesSchema, RoomSchema } from './listing.ts';
import { PresentSchema } from './presence.ts';

const FieldSchema = closedObject({
  name: Type.String(),
  type: Type.String({ description: '`strings` is an array of strings.' }),
  required: Type.Boolean(),
  meaning: Type.String(),
  example: Type.Union([Type.String(), Type.Array(Type.String())]),
});

const KindSchema = closedObject({
  kind: Type.Enum([...KINDS]),
  title: Type.String(),
  meaning: Type.String(),
  path: Type.String(),
  methods: Type.Array(Type.String()),
  room: Type.String({ description: 'Slug of the room for entries that name none.' }),
  fields: Type.Array(FieldSchema),
  example: Type.Record(Type.String(), Type.Unknown(), { description: 'A body that works.' }),
});

const DoorSchema = closedObject({
  name: Type.String(),
  path: Type.String(),
  meaning: Type.String(),
});

const ParameterSchema = closedObject({ name: Type.String(), meaning: Type.String() });

export const DiscoverySchema = closedObject(
  {
    service: Type.String(),
    status: Type.Enum([...STATES]),
    version: Type.String(),
    head: Type.Integer({ minimum: 0 }),
    log: LogSchema,
    trust: Type.String({ description: 'How to treat what visitors write.' }),
    kinds: Type.Array(KindSchema),
    rooms: Type.Array(RoomSchema),
    doors: Type.Array(DoorSchema),
    parameters: Type.Array(ParameterSchema, { description: 'Of listings.' }),
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
