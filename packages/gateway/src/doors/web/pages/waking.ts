/** The page that stands for all pages until the log is open. */
import type { RequestContext, StartupContext } from '../../../http/context.ts';
import { sendUncached } from '../send-page.ts';
import { shellOf } from '../shell.ts';

const REFRESH_SECONDS = '2';

export async function sendWakingPage(context: RequestContext<StartupContext>): Promise<void> {
  const shell = shellOf(context);
  const { name, meaning } = shell.states[shell.status];
  await sendUncached(context, {
    status: 503,
    headers: { Refresh: REFRESH_SECONDS, 'Retry-After': REFRESH_SECONDS },
    data: { page: 'waking', shell, title: name, description: meaning, unlisted: true },
  });
}
