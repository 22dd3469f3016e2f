/** `GET /web/events`: as `/api/events`, with what pages show of each entry, as events `entry`. */
import { everythingScope } from '../../../operations/listing-scope.ts';
import type { DoorHandler } from '../../context.ts';
import { events } from '../../event-stream/events.ts';
import { PAGE_FRAMES } from './page-frames.ts';

export const sendEvents: DoorHandler = events(everythingScope, PAGE_FRAMES);
