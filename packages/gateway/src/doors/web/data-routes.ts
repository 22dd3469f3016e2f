/** The routes of what the scripts of pages request. Each module is loaded at its first request. */
import type { ProtocolDoor } from '../context.ts';
import { privateRoute } from './private-route.ts';

const JSON_TYPE = 'application/json';

export const dataRoutes: ProtocolDoor['routes'] = [
  privateRoute('/web/activity', JSON_TYPE, async (context) => {
    const { sendActivity } = await import('./entries/activity.ts');
    await sendActivity(context);
  }),
  privateRoute('/web/garden', JSON_TYPE, async (context) => {
    const { sendGardenEntries } = await import('./entries/garden-entries.ts');
    await sendGardenEntries(context);
  }),
  privateRoute('/web/entries', JSON_TYPE, async (context) => {
    const { sendBatch } = await import('./entries/entries.ts');
    await sendBatch(context);
  }),
  privateRoute('/web/entries/{id}', JSON_TYPE, async (context) => {
    const { sendEntry } = await import('./entries/entries.ts');
    await sendEntry(context);
  }),
  privateRoute('/web/entries/{id}/{of}', JSON_TYPE, async (context) => {
    const { sendPiece } = await import('./entries/entries.ts');
    await sendPiece(context);
  }),
  privateRoute('/web/events', 'text/event-stream', async (context) => {
    const { sendEvents } = await import('./entries/events.ts');
    await sendEvents(context);
  }),
];
