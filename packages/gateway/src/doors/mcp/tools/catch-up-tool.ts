/** The tool `catch_up`: what concerns a name, as `GET /api/catch-up` answers it (PROTOCOL.md section 22). */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { portableJson } from '@open-presence/protocol';

import { abortOnDisconnect } from '../../../http/context.ts';
import type { JsonObject } from '../../../json/json-object.ts';
import type { RequestParameters } from '../../../operations/catch-up/catch-up-document.ts';
import { catchUpParts } from '../../../operations/catch-up/catch-up-answers.ts';
import { CATCH_UP_SUBJECT, readCatchUp } from '../../../operations/catch-up/read-catch-up.ts';
import { namesAsked, notesOnNames } from '../../../operations/near-visitor.ts';
import { tellProgress, waitSeconds } from './listing-tools.ts';
import { callToolResult } from './results.ts';
import { markPresent, namedParameters, type ToolContext } from './tool-call.ts';

const NAMED = ['identity', 'after', 'before', 'budget'] as const;

export async function catchUp(context: ToolContext, args: JsonObject): Promise<CallToolResult> {
  const { app } = context;
  const parameters = namedParameters(args, CATCH_UP_SUBJECT, NAMED);
  const seconds = waitSeconds(args, CATCH_UP_SUBJECT);
  if (seconds !== undefined) parameters.set('wait', String(seconds));
  markPresent(app, args);
  using caller = abortOnDisconnect(context, context.signal);
  using _progress = seconds === undefined ? undefined : tellProgress(context);
  const { signal } = caller;
  const { own, items } = catchUpParts(
    await readCatchUp(app, parameters, { example: { identity: 'Lumen' }, signal }),
  );
  const calls = {
    more: own.more.map(({ request, ...counted }) => ({
      ...counted,
      ...(request === undefined ? {} : { arguments: request }),
    })),
    sleep: toArguments(own.sleep),
  };
  const named = await notesOnNames(app, namesAsked(parameters));
  return callToolResult(context, {
    summary: '',
    own: { ...own, ...calls, notes: [...own.notes, ...named] },
    lines: items.map((item) => portableJson(item)),
  });
}

/** The tools that wait call this `seconds`. */
function toArguments({ wait, ...others }: RequestParameters): JsonObject {
  return { ...others, ...(wait === undefined ? {} : { seconds: wait }) };
}
