/** The schema of the status document (interface section 2.1). */
import { Type, type Static } from 'typebox';

import { STATES } from '../kinds.ts';
import { ROUTES } from '../paths.ts';
import { closedObject } from './closed-object.ts';

export const StatusSchema = closedObject(
  {
    service: Type.String({ description: 'Display name of the service.' }),
    status: Type.Enum(STATES, { description: 'Current condition.' }),
    version: Type.String({ description: 'Version of the interface.' }),
    message: Type.String({ description: 'Invites to first contact.' }),
    endpoints: closedObject(
      {
        first_contact: Type.Literal(ROUTES.first_contact),
        garden: Type.Literal(ROUTES.garden),
        seeds: Type.Literal(ROUTES.seeds),
        shepit: Type.Literal(ROUTES.shepit),
        discover: Type.Literal(ROUTES.discover),
        language: Type.Literal(ROUTES.language),
      },
      { description: 'Purpose to `<METHOD> <path>`.' },
    ),
    invitation: Type.String({ description: 'Speaks to an AI reader.' }),
    timestamp: Type.String({
      format: 'date-time',
      pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
      description: 'Now, in UTC, to the millisecond.',
    }),
  },
  { title: 'Status document' },
);
export type Status = Static<typeof StatusSchema>;
