/** Which field of a form each reason of a refusal belongs to. */
import type { FormProblem } from '../page-data.ts';

export interface FormErrors {
  /** By name of the field or member. */
  readonly fields: Readonly<Record<string, string>>;
  /** About the form as a whole. */
  readonly message?: string;
}

/** `names`: the fields that the form shows. */
export function errorsOf(problem: FormProblem | undefined, names: readonly string[]): FormErrors {
  if (problem === undefined) return { fields: {} };
  const { detail, faults = [] } = problem;
  const fields: Record<string, string> = {};
  for (const fault of faults) {
    const name = fault.parameter ?? firstToken(fault.pointer ?? '');
    if (names.includes(name)) fields[name] = fault.detail;
  }
  const isAllShown = faults.length > 0 && faults.length === Object.keys(fields).length;
  return isAllShown ? { fields } : { fields, message: detail };
}

/** The first token of a JSON Pointer (RFC 6901). */
function firstToken(pointer: string): string {
  const [, token = ''] = pointer.split('/');
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}
