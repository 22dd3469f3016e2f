/**
 * What PROTOCOL.md asks of a gateway, by its numbered sections. Every requirement has a case under
 * cases/ (the gate in gate.ts sees to it); a section without one stands in `BEYOND_REACH`.
 */
export const REQUIREMENTS = {
  '1.1': {
    'no-credentials': 'Every route answers a caller that does not say who it is.',
    'credentials-ignored': 'Credentials that are sent all the same change nothing.',
    'never-turned-away': 'No answer is 401, 403, 408, 413, 414, 429 or 431.',
    'one-connection': 'Requests sent ahead over one connection are answered in order.',
  },
  '1.2': {
    'long-url': 'A query of 1 MiB is read.',
    'long-header': 'A header of 1 MiB is read.',
    'long-path': 'A path of 1 MiB is answered as a short one.',
    'long-text': 'Texts of 64 KiB to 5 MiB are kept and found.',
    'long-parts': 'Names, numbers and escapes of 1 MiB are kept as spelled.',
    'deep-nesting': 'A hundred thousand levels of nesting are kept.',
    'many-members': 'A hundred thousand members, or elements, are kept and found.',
    'many-requests': 'A caller that asks thousands of times is answered every time.',
  },
  '1.3': {
    'any-content-type': 'The body is JSON whatever Content-Type says, or if it says nothing.',
    'byte-order-mark': 'A leading byte order mark is dropped.',
    'any-pieces': 'A body may come in any pieces, with or without a length, at any pace.',
  },
  '1.4': {
    head: 'HEAD answers with the status and headers of GET, without a body.',
    options: 'OPTIONS answers 204 with Allow.',
    'every-origin': 'Every answer allows every origin, without credentials.',
    preflight: 'A browser may send what this contract takes.',
  },
  '1.5': {
    compression: 'zstd, br and gzip give the bytes of the plain answer.',
    'not-asked': 'Nothing is compressed for a caller that does not ask for it.',
  },
  '1.6': {
    etag: 'ETag comes with every 200 to a GET.',
    'not-modified': 'If-None-Match answers 304 without a body while nothing has changed.',
    'no-etag': 'The status document, the probes and presence have no ETag.',
  },
  '1.7': {
    'trailing-slash': 'A trailing slash on a path is ignored.',
    'unknown-parameters': 'Unknown query parameters are ignored.',
  },
  '1.8': { 'relative-links': 'Links in answers are relative to the address of the gateway.' },
  '1.9': {
    tongues: 'Accept-Language chooses Ukrainian or English, by its preferences.',
    'same-names': 'Names, codes and slugs are the same in every tongue.',
    'by-default': 'Without a preference for either, each text has its default form.',
    vary: 'Answers that depend on it carry Content-Language and Vary.',
  },
  '1.10': { 'one-host': 'No Host, or more than one, is answered 400.' },
  '2': {
    'seven-fields': 'GET /api is an object of exactly seven fields.',
    root: 'GET / is the same for callers that do not prefer text/html.',
    endpoints: 'endpoints names the six routes.',
    condition: 'status is one of four words, version is 2.0, message names the three fields.',
    now: 'timestamp is the present, in UTC with milliseconds.',
    'not-cached': 'The status document is not cached.',
    probes: '/healthz and /readyz answer the status.',
  },
  '3': {
    'language-file': 'GET /mova-snu.yaml is the language file, the same bytes every time.',
    'language-schema': 'GET /mova-snu.schema.json is a JSON Schema.',
    'default-words': 'The language that comes with the gateway says what the interface says.',
  },
  '4.1': {
    'own-first': 'An entry begins with id, seq, kind, room, timestamp.',
    'as-spelled': 'The visitor’s members follow in their order, exactly as spelled.',
    'one-line': 'CR, LF and TAB between tokens become spaces.',
    'everywhere-the-same': 'An entry is the same text wherever it is read.',
  },
  '4.2': {
    seq: 'seq grows with every entry, and is the cursor.',
    timestamp: 'timestamp is UTC with milliseconds and never goes backwards along seq.',
    id: 'id is a UUIDv7 of the timestamp, different for every entry.',
  },
  '4.3': {
    prefixed: 'A visitor’s member with the name of an own member is kept as visitor_<name>.',
    'room-moves': 'The first room that is not null is the entry’s; the others are visitor_room.',
  },
  '4.4': { 'last-counts': 'Of a member that is spelled twice, the last one counts.' },
  '4.5': { 'escaped-names': 'Names are compared after escapes are resolved.' },
  '5': {
    rooms: '/api/rooms lists every room with slug, title, description, path, entries, latest.',
    'room-listing': '/api/rooms/{slug} lists the entries of a room of every kind.',
    'room-kind': 'The listing of a room takes the parameter kind.',
    'room-chosen': 'The room of a body is the room of the entry.',
    'room-by-kind': 'Without a room, the kind decides.',
    'no-such-room': 'An unknown slug is unknown-room: 422 in a body, 404 in a path.',
    'default-rooms': 'The rooms of the interface are there by default, and used by kind.',
  },
  '6.1': {
    'not-json': 'Text that is not JSON is malformed-json, with the position.',
    'not-utf8': 'Invalid UTF-8 is malformed-json, at the first byte that does not fit.',
    'no-body': 'An empty body is malformed-json.',
    'no-object': 'JSON that is no object is invalid-entry.',
    'any-json': 'All JSON of RFC 8259 is welcome.',
  },
  '6.2': {
    required: 'A kind’s required members must be there, of their type.',
    'typed-optional': 'Optional members that have a type must be of it.',
    'null-optional': 'An optional member that is null counts as absent and is kept.',
    'empty-values': 'Texts and arrays may be empty.',
    'anything-else': 'Every other member is welcome, of any type.',
  },
  '6.3': {
    'all-faults': 'faults names every fault at once, by pointer, with a detail.',
    'first-element': 'Of the elements of an array, the first wrong one is named.',
    'example-works': 'The example of an error works when it is sent.',
  },
  '7.1': {
    created: 'POST answers 201 with the entry and its Location.',
    'at-once': 'An entry that was answered is in every reading that begins afterwards.',
    'parameters-ignored': 'Query parameters choose nothing.',
  },
  '7.2': {
    welcome: 'A first contact’s answer ends with welcome, companions and next.',
    companions: 'companions are the newest twelve of others who seek one of the same things.',
    'large-companions': 'A companion of more than 16 KiB comes with its own members only.',
    'names-taken': 'Members of these names stay in the entry; the answer has the gateway’s last.',
  },
  '7.3': {
    minimal: 'Prefer: return=minimal is answered with the own members only.',
    'large-minimal': 'So is an entry of more than 64 KiB.',
  },
  '7.4': {
    retry: 'The same key and content is answered as the first time, at any later time.',
    conflict: 'The same key with another content is idempotency-conflict, and keeps nothing.',
    concurrent: 'Of many at once with one key, one entry comes.',
    'key-spelling': 'A key is the same in quotes and in the query; the header wins.',
    'long-key': 'A key may have any length.',
    'unused-key': 'A key whose request was refused is free.',
  },
  '7.5': { 'broken-off': 'A body that breaks off leaves nothing.' },
  '8.1': {
    form: 'A listing is {"entries":[…],"head":…,"next":…} with one entry a line.',
    everything: 'A listing has everything asked for; there is no page size.',
    head: 'head is the newest seq when the answer began; nothing later is in it.',
  },
  '8.2': {
    order: 'order is newest first, or oldest.',
    limit: 'limit gives at most so many, also none, also more than there are.',
    cursors: 'after and before are exclusive bounds.',
    times: 'since is inclusive, until exclusive; without an offset they are UTC.',
    filters: 'Each filter finds what it names, exactly as said.',
    combined: 'Filters are combined by and, also when one is given several times.',
    'exact-types': 'Only members of the types of section 6.2 are found.',
    unusable: 'Unusable values are invalid-parameter, which names all of them.',
    'unknown-names': 'An unknown room or kind is unknown-room or unknown-kind.',
  },
  '8.3': {
    'next-older': 'Following next from the newest gives everything once, to null.',
    'next-later': 'Following next from the oldest gives everything once, and later what is new.',
    'link-header': 'A Link header says what next says.',
  },
  '8.4': { form: 'Accept chooses JSON or NDJSON; where neither is acceptable, JSON.' },
  '8.5': { news: '?after=HEAD gives what came since.' },
  '8.6': { 'weak-etag': 'The ETag of a listing is weak and changes with head.' },
  '9': {
    unchanging: 'An entry is read at its path, with a strong ETag that stays.',
    'no-such-entry': 'Another id is not-found.',
    replies: 'The replies of an entry are the entries of every kind that answer it.',
  },
  '10': {
    parts: 'The discovery document has all its parts.',
    usable: 'Its examples and paths work as they are.',
    newest: 'newest has the newest twelve entries, large ones with their own members only.',
    here: 'here has the newest twelve of those who are here now.',
  },
  '11': {
    problem: 'Errors are problem documents with type, title, status, detail and code.',
    'known-paths': 'An unknown path is not-found and lists those that exist.',
    methods: 'A method that a path does not take is 405, with Allow and known.',
    'malformed-http': 'Malformed HTTP is answered 400, and harms nobody else.',
  },
  '13.1': {
    as: 'A reader that says who it is by as=NAME is present, on any path.',
    'any-name': 'A name is any text of any length; the first counts, an empty one says nothing.',
    'not-a-filter': 'as selects nothing, and the filter identity makes nobody present.',
    'not-by-speaking': 'A POST makes nobody present.',
  },
  '13.2': { stream: 'The reader of an event stream is present while it is open.' },
  '13.3': {
    form: 'Presence is {"here":[…],"lately":[…],"head":…} with one visitor a line.',
    request: 'A request makes its reader present for five minutes, in the room it reads.',
    once: 'Whoever comes again is here once, since the first time, the newest arrival first.',
    seeking: 'seeking is what the newest first contact seeks.',
  },
  '13.4': {
    lately: 'lately has whoever spoke, each once, by the newest entry, the newest first.',
    'without-a-name': 'Entries without a name, or larger than 64 KiB, do not count.',
  },
  '13.5': {
    limit: 'limit bounds each list.',
    room: 'room gives those whose room it is.',
    unusable: 'Unusable values are errors.',
    'not-cached': 'Presence is not cached and has no ETag.',
  },
} as const satisfies Record<string, Record<string, string>>;

/** Sections that no visitor can bring about. Tests of the processes themselves hold them. */
export const BEYOND_REACH: Readonly<Record<string, string>> = {
  '7.6': 'Needs a full or failing disk.',
  '13.6': 'Needs a restart, or more readers than others may be disturbed by.',
};
