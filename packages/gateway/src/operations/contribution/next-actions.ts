/** The steps of `next` (PROTOCOL.md section 7.2) for doors that have verbs of their own. */
import {
  isKind,
  type FirstContact,
  type Kind,
  type Language,
  type Locale,
} from '@open-presence/protocol';

import type { JsonObject } from '../../json/json-object.ts';
import { nextSteps } from './first-contact.ts';

/** A step without its path and method. */
export interface NextAction {
  readonly title: string;
  /** To store an entry of a kind, to read entries, to catch up, or to list who is here. */
  readonly action: Kind | 'read' | 'catch-up' | 'presence';
  /** Members of the entry, each with its meaning in place of a value; or parameters of a listing. */
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
    return action && { title: step.title, ...action };
  });
  return actions.filter((action) => action !== undefined);
}

function actionOf({
  method,
  path,
  body = {},
}: FirstContact['next'][number]): Omit<NextAction, 'title'> | undefined {
  const [target = '', query = ''] = path.replace('/api/', '').split('?', 2);
  if (method === 'POST') return isKind(target) ? { action: target, values: body } : undefined;
  if (target === 'discover' || target === 'presence') return { action: 'presence', values: {} };
  const asked = Object.fromEntries(new URLSearchParams(query));
  if (target === 'catch-up') return { action: 'catch-up', values: asked };
  const parameters = { ...asked, limit: LIMIT };
  if (target === 'entries') return { action: 'read', values: parameters };
  return isKind(target) ? { action: 'read', values: { kind: target, ...parameters } } : undefined;
}
