import { Type, type TSchema } from 'typebox';

import { KINDS } from '../kinds.ts';

/** The own members (PROTOCOL.md section 4), then the visitor's. */
export const EntrySchema: TSchema = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    seq: Type.Integer({ minimum: 1 }),
    kind: Type.Enum([...KINDS]),
    room: Type.String(),
    timestamp: Type.String({ format: 'date-time' }),
  },
  { additionalProperties: true },
);
