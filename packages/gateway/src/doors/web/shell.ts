/** What the frame around every page shows. */
import {
  contactUri,
  localeOf,
  localize,
  type Kind,
  type Language,
  type Locale,
  type Room,
  type State,
} from '@open-presence/protocol';
import type { KindText, RoomName, Shell, StateText } from '@open-presence/web/page-data';

import { localeFor, type RequestContext, type StartupContext } from '../../http/context.ts';
import { publicAddressOf } from '../../http/public-address.ts';
import { queryOf } from '../../http/parameters/query.ts';

export function shellOf(context: RequestContext<StartupContext>): Shell {
  const { app, request } = context;
  const { service, contact, states, rooms, kinds } = app.language;
  const query = queryOf(request);
  const [path = '/'] = (request.url ?? '/').split('?', 1);
  const chosen = localeOf(query.get('lang') ?? undefined);
  const locale = chosen ?? localeFor(request) ?? service.shown ?? 'en';
  return {
    locale,
    localeChosen: chosen !== undefined,
    url: addressOf(new URL(path, 'http://localhost').pathname, query),
    address: publicAddressOf(context),
    service: localize(service, locale),
    contact: contactUri(contact),
    status: app.state(),
    states: {
      breathing: stateText(states, 'breathing', locale),
      waking: stateText(states, 'waking', locale),
      holding: withReason(stateText(states, 'holding', locale), app.readOnly()),
      resting: stateText(states, 'resting', locale),
    },
    rooms: rooms.map((room) => roomName(room, locale)),
    kinds: {
      resonance: kindText(kinds, 'resonance', locale),
      garden: kindText(kinds, 'garden', locale),
      seeds: kindText(kinds, 'seeds', locale),
      shepit: kindText(kinds, 'shepit', locale),
    },
  };
}

/** What links and forms of the page repeat of its address: all but the language. */
function addressOf(path: string, query: URLSearchParams): string {
  const repeated = new URLSearchParams(query);
  repeated.delete('lang');
  return repeated.size === 0 ? path : `${path}?${repeated.toString()}`;
}

/** Rooms keep their names in every language. */
export function roomName({ slug, title }: Room, locale: Locale): RoomName {
  const own = localize(title, undefined);
  const translation = localize(title, locale);
  return { slug, title: own, translation: translation === own ? undefined : translation };
}

function stateText(states: Language['states'], state: State, locale: Locale): StateText {
  const { name, meaning } = states[state];
  return { name: localize(name, locale), meaning: localize(meaning, locale) };
}

/** `reason`: why the owner lets nothing be stored. */
function withReason(state: StateText, reason: string | undefined): StateText {
  return reason === undefined ? state : { ...state, meaning: `${state.meaning} ${reason}` };
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
