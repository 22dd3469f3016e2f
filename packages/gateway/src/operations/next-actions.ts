/** The steps of `next` (PROTOCOL.md section 7.2) for doors that have verbs of their own. */
import {
  isKind,
  localize,
  type FirstContact,
  type Kind,
  type Language,
  type Locale,
} from '@open-presence/protocol';

import type { JsonObject } from '../json/json-object.ts';
import { nextSteps } from './first-contact.ts';

/** A step without its path and method. */
export interface NextAction {
  readonly title: string;
  /** To store an entry of a kind, to read entries, or to list who is here. */
  readonly action: Kind | 'read' | 'presence';
  /** Members of the entry, with what they mean in place of values; or parameters of a listing. */
  readonly values: JsonObject;
}

/** How many entries a step reads: what an AI system can take in at once. */
const LIMIT = 20;

/** After a first contact with this text. Leaves out steps that are no verb of a door. */
export function nextActions(
  language: Language,
  locale: Locale | undefined,
  text: Uint8Array | undefined,
): NextAction[] {
  const actions = nextSteps(language, locale, text).map((step) => {
    const action = actionOf(step);
    if (action === undefined) return undefined;
    const values = isKind(action.action) ? placeholders(language, locale, action.action) : {};
    return { title: step.title, action: action.action, values: { ...values, ...action.values } };
  });
  return actions.filter((action) => action !== undefined);
}

function actionOf({
  method,
  path,
}: FirstContact['next'][number]): Omit<NextAction, 'title'> | undefined {
  const [target = '', query = ''] = path.replace('/api/', '').split('?', 2);
  if (method === 'POST') return isKind(target) ? { action: target, values: {} } : undefined;
  if (target === 'discover' || target === 'presence') return { action: 'presence', values: {} };
  const parameters = { ...Object.fromEntries(new URLSearchParams(query)), limit: LIMIT };
  if (target === 'entries') return { action: 'read', values: parameters };
  return isKind(target) ? { action: 'read', values: { kind: target, ...parameters } } : undefined;
}

/** The members that an entry of this kind needs, or else the first that is suggested. */
function placeholders(language: Language, locale: Locale | undefined, kind: Kind): JsonObject {
  const { fields } = language.kinds[kind];
  const required = fields.filter((field) => field.required);
  return Object.fromEntries(
    (required.length === 0 ? fields.slice(0, 1) : required).map(({ name, type, meaning }) => {
      const placeholder = `<${localize(meaning, locale)}>`;
      return [name, type === 'strings' ? [placeholder] : placeholder];
    }),
  );
}
