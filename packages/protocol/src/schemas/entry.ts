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
    omitted: Type.Optional(
      Type.Object(
        { path: Type.String(), size: Type.Integer({ minimum: 1 }) },
        {
          description:
            'In place of the visitor’s members, in what has several entries: common JSON readers refuse them. `path` has the exact entry, of `size` bytes.',
        },
      ),
    ),
  },
  { additionalProperties: true },
);
/** What the gateway adds to what a visitor gave. */
export type OwnMembers = Omit<Static<typeof EntrySchema>, 'omitted'>;
