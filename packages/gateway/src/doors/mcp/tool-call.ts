/** Arguments of a tool as parameters of a listing, and back. */
import { GatewayError } from '@open-presence/protocol';

import type { Fields } from './results.ts';
import { LISTING_PARAMETERS } from './schemas.ts';

const NUMBERS = new Set(['limit', 'after', 'before', 'skip']);

/** Of the arguments, those that a listing knows. Throws for what cannot be a value. */
export function parametersOf(
  given: Fields,
  subject: string,
  names: readonly string[] = LISTING_PARAMETERS,
): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const name of names) {
    const values: readonly unknown[] = [given[name]].flat();
    for (const value of values) {
      if (value === undefined || value === null) continue;
      parameters.append(name, asText(name, value, subject));
    }
  }
  return parameters;
}

/** Links are made without the parameters that they repeat: spelled in a URL, those could be too long. */
export const NO_OTHERS: URLSearchParams = new URLSearchParams();

/** The parameters, with those of a link in their place, so that a tool can be called with them. */
export function argumentsOf(parameters: URLSearchParams, link: string): Fields {
  return { ...fieldsOf(parameters), ...fieldsOf(new URLSearchParams(link)) };
}

function fieldsOf(parameters: URLSearchParams): Fields {
  const names = [...new Set(parameters.keys())];
  return Object.fromEntries(
    names.map((name) => {
      const values = parameters
        .getAll(name)
        .map((value) => (NUMBERS.has(name) ? Number(value) : value));
      return [name, values.length === 1 ? values[0] : values];
    }),
  );
}

/** One argument as a text, undefined where it is not given. */
export function textIn(given: Fields, name: string, subject: string): string | undefined {
  const value = given[name];
  return value === undefined || value === null ? undefined : asText(name, value, subject);
}

function asText(parameter: string, value: unknown, subject: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const detail = `"${parameter}" must be a text or a number`;
  throw new GatewayError('invalid-parameter', `Cannot read ${subject}: ${detail}`, {
    faults: [{ parameter, detail }],
  });
}
