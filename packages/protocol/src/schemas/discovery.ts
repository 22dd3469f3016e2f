/** Discovery (PROTOCOL.md section 10) and the answer to a first contact (section 7.2). */
import { Type, type Static } from 'typebox';

import { EntrySchema } from './entry.ts';
import { KINDS, STATES } from '../kinds.ts';
import { RoomSchema } from './listing.ts';
import { PresentSchema } from './presence.ts';

const closed = { additionalProperties: false } as const;

const FieldSchema = Type.Object(
  {
    name: Type.String(),
    type: Type.String({ description: '`strings` is an array of strings.' }),
    required: Type.Boolean(),
    meaning: Type.String(),
    example: Type.Union([Type.String(), Type.Array(Type.String())]),
  },
  closed,
);

const KindSchema = Type.Object(
  {
    kind: Type.Enum([...KINDS]),
    title: Type.String(),
    meaning: Type.String(),
    path: Type.String(),
    methods: Type.Array(Type.String()),
    room: Type.String({ description: 'Slug of the room for entries that name none.' }),
    fields: Type.Array(FieldSchema),
    example: Type.Record(Type.String(), Type.Unknown(), { description: 'A body that works.' }),
  },
  closed,
);

const DoorSchema = Type.Object(
  { name: Type.String(), path: Type.String(), meaning: Type.String() },
  closed,
);

const ParameterSchema = Type.Object({ name: Type.String(), meaning: Type.String() }, closed);

export const DiscoverySchema = Type.Object(
  {
    service: Type.String(),
    status: Type.Enum([...STATES]),
    version: Type.String(),
    head: Type.Integer({ minimum: 0 }),
    trust: Type.String({ description: 'How to treat what visitors write.' }),
    kinds: Type.Array(KindSchema),
    rooms: Type.Array(RoomSchema),
    doors: Type.Array(DoorSchema),
    parameters: Type.Array(ParameterSchema, { description: 'Of listings.' }),
    here: Type.Array(PresentSchema, { description: 'The newest arrivals of those here now.' }),
    newest: Type.Array(EntrySchema, { description: 'The newest entries of the log.' }),
  },
  { ...closed, title: 'Discovery' },
);
export type Discovery = Static<typeof DiscoverySchema>;

export const FirstContactSchema = Type.Object(
  {
    welcome: Type.String(),
    companions: Type.Array(EntrySchema, { description: 'Others who seek the same, newest first.' }),
    next: Type.Array(
      Type.Object({ title: Type.String(), method: Type.String(), path: Type.String() }, closed),
      { description: 'Where to go from here.' },
    ),
  },
  { title: 'What the answer to a first contact adds to the entry' },
);
export type FirstContact = Static<typeof FirstContactSchema>;
