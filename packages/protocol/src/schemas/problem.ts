import { Type, type TSchema } from 'typebox';

import { CODES } from '../kinds.ts';

/** A problem document (PROTOCOL.md section 11). */
export const ProblemSchema: TSchema = Type.Object(
  {
    type: Type.String({ format: 'uri-reference' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: Type.Enum([...CODES]),
    faults: Type.Optional(
      Type.Array(
        Type.Object({
          pointer: Type.Optional(Type.String()),
          parameter: Type.Optional(Type.String()),
          detail: Type.String(),
        }),
      ),
    ),
    position: Type.Optional(
      Type.Object({ offset: Type.Integer(), line: Type.Integer(), column: Type.Integer() }),
    ),
    example: Type.Optional(Type.Unknown()),
    known: Type.Optional(Type.Array(Type.String())),
    entry: Type.Optional(Type.String()),
    head: Type.Optional(Type.Integer()),
    log: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
