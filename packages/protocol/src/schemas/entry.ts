import { Type, type Static } from 'typebox';

import { KINDS } from '../kinds.ts';

/** The own members (PROTOCOL.md section 4), then the visitor's. */
export const EntrySchema = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    seq: Type.Integer({ minimum: 1 }),
    kind: Type.Enum([...KINDS]),
    room: Type.String(),
    timestamp: Type.String({ format: 'date-time' }),
  },
  { additionalProperties: true },
);
/** What the gateway adds to what a visitor gave. */
export type OwnMembers = Static<typeof EntrySchema>;
