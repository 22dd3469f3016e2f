/** Presence (PROTOCOL.md section 13). */
import { Type, type Static } from 'typebox';

import { closedObject } from './closed-object.ts';
import { KINDS } from '../kinds.ts';
import { LogSchema, NotesSchema } from './listing.ts';

const Time = Type.String({ format: 'date-time' });
const Seeking = Type.Array(Type.String(), {
  description: 'What the newest first contact of this identity seeks.',
});

export const PresentSchema = closedObject(
  {
    identity: Type.String(),
    via: Type.Enum(['stream', 'request']),
    room: Type.Union([Type.String(), Type.Null()], { description: 'Slug of the room it reads.' }),
    seeking: Seeking,
    since: Time,
    lastSeen: Time,
    until: Type.Union([Time, Type.Null()], { description: 'null while an event stream is open.' }),
  },
  { title: 'A visitor who is here now' },
);
export type PresentDocument = Static<typeof PresentSchema>;

const LatelySchema = closedObject(
  {
    identity: Type.String(),
    kind: Type.Enum([...KINDS]),
    room: Type.String(),
    seeking: Seeking,
    lastSeen: Time,
    entry: Type.String({ description: 'Where to read its newest entry.' }),
  },
  { title: 'A visitor who wrote within the last hour' },
);
export type LatelyDocument = Static<typeof LatelySchema>;

export const PresenceSchema = closedObject(
  {
    notes: Type.Optional(NotesSchema),
    here: Type.Array(PresentSchema, { description: 'Newest arrival first.' }),
    lately: Type.Array(LatelySchema, { description: 'The newest entry first.' }),
    head: Type.Integer({ minimum: 0, description: 'The newest seq when the answer began.' }),
    log: LogSchema,
  },
  { title: 'Presence' },
);
