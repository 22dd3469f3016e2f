/** What a client subscribes to: resources that exist, by the URIs that notifications have. */
import { yieldPeriodically } from '../../fair-turns.ts';
import { toJsonObject } from '../../json/json-object.ts';
import type { DoorContext } from '../context.ts';
import { resourceError, subscribedUri } from './resources.ts';

/**
 * The message with the URIs that notifications have. Rejects with the error that answers it if one of
 * them names nothing: it would never be notified.
 */
export async function resolveSubscriptions(app: DoorContext, message: unknown): Promise<unknown> {
  const request = toJsonObject(message);
  const params = toJsonObject(request['params']);
  const notifications = toJsonObject(params['notifications']);
  const { resourceSubscriptions: wanted } = notifications;
  // The SDK refuses others.
  if (!Array.isArray(wanted)) return message;
  const yieldTurn = yieldPeriodically();
  const uris = new Set<unknown>();
  for (const uri of wanted as readonly unknown[]) {
    uris.add(typeof uri === 'string' ? await resolve(app, uri) : uri);
    await yieldTurn();
  }
  const resolved = { ...notifications, resourceSubscriptions: [...uris] };
  return { ...request, params: { ...params, notifications: resolved } };
}

async function resolve(app: DoorContext, uri: string): Promise<string> {
  try {
    return await subscribedUri(app, uri);
  } catch (error) {
    throw resourceError(app, uri, error);
  }
}
