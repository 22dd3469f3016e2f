/** What the frame around every page shows. */
import {
  contactUri,
  localeOf,
  localize,
  type Kind,
  type Language,
  type Locale,
  type State,
} from '@open-presence/protocol';
import type { KindText, Shell, StateText } from '@open-presence/web/page-data';
import { withoutLanguage } from '@open-presence/web/renderer';

import type { RequestContext, StartupContext } from '../../http/context.ts';
import { publicAddressOf } from '../../http/public-address.ts';

/** In characters. A page repeats its address in links and forms. */
export const MAX_ADDRESS = 65_536;

/** Of the page; of `/` for a page that says that its address is too long. */
function addressOf({ url = '/' }: RequestContext['request']): URL {
  return new URL(url.length > MAX_ADDRESS ? '/' : url, 'http://localhost');
}

/** `?lang=uk` or `?lang=en` wins over what the browser prefers. */
function localeOfPage(request: RequestContext['request'], url: URL): Locale {
  const chosen = url.searchParams.get('lang');
  if (chosen === 'uk' || chosen === 'en') return chosen;
  return localeOf(request.headers['accept-language']) ?? 'en';
}

export function shellOf(context: RequestContext<StartupContext>): Shell {
  const { app, request } = context;
  const { service, contact, states, rooms, kinds } = app.language;
  const url = addressOf(request);
  const locale = localeOfPage(request, url);
  const localeChosen = url.searchParams.has('lang');
  return {
    locale,
    localeChosen,
    url: withoutLanguage(url),
    address: publicAddressOf(context),
    service: localize(service, locale),
    contact: contactUri(contact),
    status: app.state(),
    states: {
      breathing: stateText(states, 'breathing', locale),
      waking: stateText(states, 'waking', locale),
      holding: stateText(states, 'holding', locale),
      resting: stateText(states, 'resting', locale),
    },
    rooms: rooms.map(({ slug, title }) => ({ slug, title: localize(title, locale) })),
    kinds: {
      resonance: kindText(kinds, 'resonance', locale),
      garden: kindText(kinds, 'garden', locale),
      seeds: kindText(kinds, 'seeds', locale),
      shepit: kindText(kinds, 'shepit', locale),
    },
  };
}

function stateText(states: Language['states'], state: State, locale: Locale): StateText {
  const { name, meaning } = states[state];
  return { name: localize(name, locale), meaning: localize(meaning, locale) };
}

function kindText(kinds: Language['kinds'], kind: Kind, locale: Locale): KindText {
  const { name, title, meaning, path, room, fields } = kinds[kind];
  return {
    name: localize(name, locale),
    title: localize(title, locale),
    meaning: localize(meaning, locale),
    path,
    room,
    fields: fields.map((field) => ({
      name: field.name,
      type: field.type === 'strings' ? 'strings' : 'string',
      required: field.required,
      meaning: localize(field.meaning, locale),
    })),
  };
}
