/** Every case, in groups that go by the sections of PROTOCOL.md. */
import type { Case } from './case.ts';
import { about } from './cases/about.ts';
import { a2a } from './cases/a2a.ts';
import { body } from './cases/body.ts';
import { bounds } from './cases/bounds.ts';
import { catchingUp } from './cases/catching-up.ts';
import { discovery } from './cases/discovery.ts';
import { entries } from './cases/entries.ts';
import { errors } from './cases/errors.ts';
import { feeds } from './cases/feeds.ts';
import { filters } from './cases/filters.ts';
import { formsAndEncodings } from './cases/forms.ts';
import { http } from './cases/http.ts';
import { language } from './cases/language.ts';
import { liveFilters } from './cases/live-filters.ts';
import { resuming, streams } from './cases/live.ts';
import { lines } from './cases/lines.ts';
import { listings } from './cases/listings.ts';
import { log } from './cases/log.ts';
import { longMessages } from './cases/long-messages.ts';
import { mcp } from './cases/mcp.ts';
import { notices } from './cases/notices.ts';
import { oneEntry } from './cases/one-entry.ts';
import { openness } from './cases/openness.ts';
import { pages } from './cases/pages.ts';
import { presence } from './cases/presence.ts';
import { retries } from './cases/retries.ts';
import { rooms } from './cases/rooms.ts';
import { contributingByGet } from './cases/contributing-by-get.ts';
import { contributing } from './cases/contributing.ts';
import { searching } from './cases/search.ts';
import { status } from './cases/status.ts';
import { locales } from './cases/locales.ts';
import { waiting } from './cases/wait.ts';
import { withheld } from './cases/withheld.ts';

export const GROUPS: Readonly<Record<string, readonly Case[]>> = {
  'open to everybody, without bounds': openness,
  HTTP: http,
  tongues: locales,
  'the status document': status,
  'the language': language,
  entries,
  'what was taken away': withheld,
  rooms,
  'what an entry must have': body,
  'saying something': contributing,
  'saying something in forms, and compressed': formsAndEncodings,
  'saying many things at once': lines,
  'trying again': retries,
  listings,
  filters,
  'bounds of listings': bounds,
  'one entry': oneEntry,
  discovery,
  presence,
  errors,
  'event streams': streams,
  'resuming an event stream': resuming,
  'filters of event streams': liveFilters,
  'waiting for news': waiting,
  'coming back': catchingUp,
  search: searching,
  feeds,
  A2A: a2a,
  'saying something by GET': contributingByGet,
  'what the gateway says of itself': about,
  'pages for people': pages,
  MCP: mcp,
  'messages that are too long': longMessages,
  'the log and its chain': log,
  'telling the owner in private': notices,
};
