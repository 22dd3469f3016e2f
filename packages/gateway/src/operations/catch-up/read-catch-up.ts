/** Catching up by the parameters of a request, or by arguments that have their meaning: every door does it through here. */
import { parameterError, invalidParameter, quote } from '../../intake/parameter-faults.ts';
import { parseSelection, parseWait } from '../../intake/selection.ts';
import { catchUp, requiredName, waitForConcern } from './catch-up.ts';
import type { CatchUp } from './catch-up-document.ts';
import type { OperationsContext } from '../context.ts';
import { untilSeen } from '../until-seen.ts';

export const CATCH_UP_PARAMETERS = ['identity', 'after', 'before', 'budget', 'wait'] as const;

export const CATCH_UP_SUBJECT = 'what concerns you';

/** In tokens. */
const DEFAULT_BUDGET = 2000;

/** With `wait`, answers once something concerns the name. `example`: of a request, as the door spells it. Throws `invalid-parameter`. */
export async function readCatchUp(
  app: OperationsContext,
  parameters: URLSearchParams,
  { example, signal }: { readonly example: unknown; readonly signal: AbortSignal },
): Promise<CatchUp> {
  const { log, grammar } = app;
  const identity = requiredName(parameters.getAll('identity'), example);
  const budget = budgetIn(parameters);
  await untilSeen(log, parameters);
  const scope = { grammar, facets: [], subject: CATCH_UP_SUBJECT, log };
  const { after, before } = await parseSelection(parameters, scope);
  const wait = await parseWait(parameters, CATCH_UP_SUBJECT);
  const query = { identity, after, before, budget, signal };
  if (wait !== undefined && wait > 0) await waitForConcern(log, query, wait);
  return await catchUp(app, query);
}

function budgetIn(parameters: URLSearchParams): number {
  const budgets = parameters.getAll('budget').map((text) => {
    const budget = /^[0-9]+$/.test(text) ? Number(text) : 0;
    if (budget > 0) return budget;
    const detail = `"budget" must be a whole number of tokens from 1, got ${quote(text)}`;
    throw parameterError([invalidParameter('budget', detail)], CATCH_UP_SUBJECT);
  });
  return budgets.length === 0 ? DEFAULT_BUDGET : Math.min(...budgets);
}
