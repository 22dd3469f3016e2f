/**
 * The script of every page. The gateway has made the whole page: the script brings what is new as HTML of the
 * gateway, sends forms in place, and shows times and news as this device knows them.
 */
import '../images/icon-180.png';
import '../images/icon-192.png';
import '../images/icon-512.png';
import '../images/icon-maskable-512.png';
import '../images/icon.svg?url';
import '../styles/index.css';

import { rememberedAuthor } from './form/remembered-author.ts';
import { startForms } from './form/open-form.ts';
import { rememberFresh, startList } from './list.ts';
import { startLive } from './live.ts';
import { startNews } from './news.ts';
import { startCopying } from './copy.ts';
import { startStatus } from './status.ts';
import { showTimes } from './times.ts';

rememberFresh();
showTimes(document);
startStatus();
startCopying();
startNews();
startList();
startForms();
startLive();
showOwnInbox();
if (document.documentElement.dataset['page'] === 'garden') void import('../garden/start.ts');
performance.mark('ready');

/** An inbox of nobody becomes that of the visitor whom this device remembers. */
function showOwnInbox(): void {
  const name = rememberedAuthor()?.identity ?? '';
  const address = new URL(location.href);
  if (address.pathname !== '/inbox' || address.searchParams.has('to') || name === '') return;
  address.searchParams.set('to', name);
  location.replace(address);
}
