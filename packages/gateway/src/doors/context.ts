/** What every door is given: the HTTP toolkit's services, and what operations work on. */
import type { Handler, HttpContext, RequestContext } from '../http/context.ts';
import type { Door } from '../http/router.ts';
import type { OperationsContext } from '../operations/context.ts';

export interface DoorContext extends HttpContext, OperationsContext {}

export type DoorRequest = RequestContext<DoorContext>;
export type DoorHandler = Handler<DoorContext>;
export type ProtocolDoor = Door<DoorContext>;
