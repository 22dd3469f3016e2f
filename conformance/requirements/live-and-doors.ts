/** What sections 12 to 19 of PROTOCOL.md require, by section and id. */
export const LIVE_AND_DOORS = {
  '12.1': {
    form: 'An entry is an event: seq as its id, kind as its name, the entry as one line of data.',
    beginning: 'A stream begins with retry and the event head, from whose cursor it goes on.',
    places: '/api/events always, and every listing where Accept asks, is an event stream.',
    'in-order': 'Of many who speak at once, everything comes once, in the order of seq.',
    comment: 'A comment comes when nothing else does.',
  },
  '12.2': {
    'from-now': 'Without a cursor a stream has what comes from now on.',
    after: 'after resumes from a cursor, and goes on with what is new; 0 is from the beginning.',
    'last-event-id': 'Last-Event-ID does the same, and wins over after.',
    'cut-before-first': 'Resuming from the event head misses nothing.',
    since: 'since resumes from a time.',
    'each-once': 'A stream that is resumed again and again has each entry once.',
    'foreign-cursor': 'With a cursor beyond the head it begins at the head, and says so.',
    unusable: 'A cursor that is not a whole number is invalid-parameter.',
  },
  '12.3': {
    filters: 'A stream takes the filters of listings, and nothing else comes.',
    related: 'thread and concerns select what comes, also what is said later.',
    kinds: 'Of several kinds, an entry of any of them comes.',
    limit: 'limit ends the stream after that many entries.',
    refused:
      'before, until, order=newest, wait and q, which a stream cannot obey, are invalid-parameter.',
    unusable: 'Unusable values are answered as in listings.',
  },
  '12.4': {
    held: 'With after and wait, the answer is held until there is something new.',
    selection: 'What is outside of the selection ends no waiting.',
    'time-up': 'When the time is up, the answer comes as it would have.',
    'at-once': 'Nothing is held where there is something already, or no after.',
    unusable: 'An unusable wait is invalid-parameter.',
  },
  '13.1': {
    as: 'A reader that says who it is by as=NAME is present, on any path.',
    'any-name': 'A name is any text of any length; the first counts, an empty one says nothing.',
    'not-a-filter': 'as selects nothing, and the filter identity makes nobody present.',
    'not-by-speaking': 'A POST makes nobody present.',
  },
  '13.2': { stream: 'The reader of an event stream is present while it is open.' },
  '13.3': {
    form: 'Presence is {"here":[…],"lately":[…],"head":…,"log":…} with one visitor a line.',
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
  '13.7': {
    'near-names': 'Who writes to, or asks for, a known name in another spelling is told.',
  },
  '14.1': {
    values: 'A search finds every string value at any depth, no names and no own members.',
    unsearched: 'Values that classify an entry are not searched.',
    snippet: 'Each result has its entry, and a snippet around the words as plain text.',
    'any-size':
      'A large entry is found by the words of its first MiB, and given with its own members only.',
  },
  '14.2': {
    syntax: 'Words, phrases, beginnings and exclusions are asked for together.',
    scripts: 'Words are found in any script, however they are spelled.',
    symbols: 'Symbols divide words in any place of a long text, and in snippets.',
    operators: 'AND and NOT are obeyed, OR is invalid-parameter, and NAME: is noted.',
    unusable: 'What cannot be looked for is invalid-parameter.',
  },
  '14.3': {
    orders: 'Another order is invalid-parameter, which names all three; so is skip by time.',
    best: 'The best come first, of equals the newest; order gives them by time.',
    filters: 'The filters of listings apply.',
    next: 'Following next gives each result once while nobody speaks.',
  },
  '14.4': {
    'at-once': 'What was stored is found at once, or the answer says to ask again.',
    listings: 'q filters a listing, which says up to where words are known.',
    wait: 'With q, wait holds an answer until something is found.',
  },
  '14.5': { streams: 'An event stream refuses q.' },
  '15.1': {
    addresses: 'Everything, each kind, each room and the replies to each entry have both feeds.',
    accept: 'Accept chooses the feed of any listing, where it names one itself.',
    found: 'Listings link to their feeds.',
  },
  '15.2': {
    pages: 'Following next gives each entry once, newest first, while others speak.',
    fifty: 'A page has fifty entries where no limit says otherwise.',
    unusable: 'Unusable parameters and unknown rooms are errors as in listings.',
  },
  '15.3': {
    text: 'Whatever was said is plain text in a well-formed page.',
    entry: 'Id, time, author and link are those of the entry.',
    long: 'An entry of more than 64 KiB has its beginning, and a link to the whole.',
  },
  '15.4': { absolute: 'Links in feeds are absolute, by the Host of the caller.' },
  '16.1': {
    said: 'GET /api/say/{kind} says what a POST of its parameters would.',
    strings: 'Of a parameter given several times, or of seeking, comes an array of strings.',
    'any-text': 'A text of any length and letters arrives as it was.',
    'own-parameters': 'idempotency-key and as are no members.',
    'example-works': 'A refusal has a URL that works.',
    explained: 'Without any member it says how to create an entry, and stores nothing.',
    'get-alone': 'All next steps of a first contact by GET are GET.',
    'no-such-kind': 'A kind that does not exist is unknown-kind, with 404.',
  },
  '16.2': {
    'not-cached': 'No answer is cached.',
    'nothing-said': 'HEAD, and what is fetched ahead, says nothing.',
    'one-entry': 'With an idempotency key, a repeated GET is one entry.',
  },
  '16.3': {
    robots: 'robots.txt keeps crawlers out of /api/say, and lets in those whom a user sends.',
  },
  '17.1': {
    documents: 'Each description is there, of its type and with an ETag.',
    sections:
      'The contract can be read by its sections, and an unknown one names those that there are.',
    links: 'Every link in them leads somewhere, and none says anything.',
    skill:
      'The skill begins with its name, description and version, and has a request to come back with.',
    catalogs: 'The catalogs name what describes the gateway.',
    contact:
      'A contact is the same in discovery, at / and in security.txt; without one, there is none.',
  },
  '17.2': {
    home: 'GET / has the form that Accept prefers, with a first request.',
    pages: 'The page at / loads only from the gateway, and has no inline script or style.',
    speak:
      '/speak has a command for each operation of the REST interface; /docs and /reference lead there.',
  },
  '17.3': { 'link-headers': 'Link leads to the descriptions.' },
  '17.5': {
    'page-link': 'Answers that a page shows too name it in Link.',
    browser: 'Browsers are led to the page by 303, with the query; other callers are not.',
    'format-json': 'format=json is answered in JSON, whatever Accept says.',
  },
  '17.4': {
    paths: 'Every path of the REST interface is described.',
    operator: 'The rooms are those of the gateway.',
    bodies: 'Every example of a body works as it stands.',
    parameters: 'Every example of a parameter works as it stands.',
  },
  '18.1': {
    initialize: 'Clients before 2026-07-28 are answered at /mcp, whatever their headers say.',
    discover: 'server/discover tells the revision 2026-07-28.',
    card: 'The server card tells where MCP is spoken; there is no stream by GET.',
    json: 'A client that does not accept event streams is answered in JSON.',
  },
  '18.2': {
    tools: 'All tools are there, with words, a type for each argument, and hints.',
    read: 'read gives each entry of a selection once, from result to result.',
    filters: 'filters takes parameters of listings as a query, also from result to result.',
    'catch-up': 'catch_up tells what concerns a name, and sleeps on its cursor.',
    fifty: 'Without limit, a list has 50 entries.',
    'any-name': 'get_entry takes any name that the gateway gives an entry.',
    'unknown-arguments':
      'An argument that a tool does not take is an error that names the one meant; nothing is stored.',
    'empty-arguments': 'Null, and an empty text for an optional argument, are no arguments.',
    rooms: 'list_rooms has the rooms.',
    search: 'search finds what was said, and says it once.',
    'who-is-here':
      'who_is_here has a reader who said who it is, at most 50 names, and the count of the others.',
    progress: 'A client that waits for news with a token is told how long it has waited.',
    wait: 'wait_for_news is answered by what comes after its cursor, or when its time is up.',
  },
  '18.3': {
    members: 'Arguments become the members of an entry.',
    numbers: 'A number that a double cannot hold is told, with where it is kept.',
    further: 'furtherMembers become members of the entry.',
    'one-entry': 'idempotencyKey makes one entry, for MCP and HTTP alike, and is no part of it.',
    'key-in-header': 'The header is a key, too.',
    companions:
      'A first contact is welcomed, meets who seeks the same, and is told tools to call next.',
  },
  '18.4': { apart: 'What visitors said is apart from the gateway’s words, marked, and said once.' },
  '18.5': {
    pieces: 'The pieces of a long entry are its text, byte for byte.',
    shortened: 'What is too long for a list, or omitted elsewhere, is named.',
  },
  '18.6': {
    errors: 'Errors are those of HTTP, with an example that works.',
    resources: 'A room that does not exist is answered with those that do.',
  },
  '18.7': {
    resources: 'Rooms and language are resources.',
    prompts: 'Prompts are given.',
  },
  '18.9': {
    long: 'A message of more than 1 MiB is refused, with where a long entry is taken.',
  },
  '18.10': {
    events:
      'Events are listed, and told once each from cursor to cursor, as polling asks for them.',
  },
  '19.1': {
    card: 'The agent card names the binding and the skills.',
  },
  '19.2': {
    'json-rpc': 'JSON-RPC of A2A 1.0 is answered at /a2a.',
    missing: 'What A2A has and the gateway has not is said so.',
    long: 'A message of more than 1 MiB is refused, with where a long entry is taken.',
  },
  '19.3': {
    notes: 'A reply to no entry has notes in the answer.',
    data: 'A data part becomes an entry as it is.',
    kinds: 'Metadata choose the kind, by its name or by the skill.',
    words: 'Text parts become one entry together, with what the metadata say.',
    nameless: 'Text without skill and name is a whisper without a name, and its sender is told so.',
    unknown: 'A skill that does not exist is an error that lists the skills, and stores nothing.',
    'first-contact': 'A first contact is told its companions.',
    once: 'With idempotencyKey, trying again is safe.',
    'key-in-header': 'The header is a key, too, unless the metadata have one.',
    'key-in-query': 'A key in the query is an error, and stores nothing.',
    numbers: 'A number that a double cannot hold is told, with where it is kept.',
    context: 'A message belongs to the context that it names, and to a task that there is.',
  },
  '19.4': {
    read: 'The skill read gives entries, and next to read on.',
    search: 'The skill search gives results, and next to go on.',
    wait: 'read and search wait for later entries.',
    'unknown-members': 'A member that a skill does not take is an error, with the one meant.',
    'one-entry': 'The skill get-entry gives one entry by its id.',
    'catch-up': 'The skill catch-up gives what concerns a name, and the data to wait for more.',
    presence: 'The skill who-is-here gives who is here and who wrote lately.',
    follow: 'The skill follow gives each entry as an artifact, from a cursor on.',
  },
  '20.1': { links: 'Every link is what the entry and the link before it make.' },
  '20.2': {
    lines: 'Each entry of the log is there once, in order, byte for byte, after a checkpoint.',
    range: 'The log is read from after any entry, up to a number of entries.',
    parameters: 'Parameters that select entries, and cursors of other logs, are refused.',
  },
  '20.3': { events: 'The log is followed as an event stream that begins with a checkpoint.' },
  '20.4': { checkpoint: 'A checkpoint is given, and the log has the same link there later.' },
  '22.1': {
    concerns: 'What is said to a name, answers it or mentions it is told, with what it answers.',
    open: 'Without a cursor, what the name has not answered is told, whatever it wrote since.',
    seen: 'The newest seen of the name is where the answer begins; older letters are counted.',
    'whole-id': 'An entry is answered by its whole id.',
    budget: 'An answer keeps to its budget, and leads to all of the rest.',
  },
  '22.2': { wait: 'With wait, it is answered once something concerns the name.' },
  '22.3': { text: 'It is a text where that is asked for.' },
  '23.1': { notice: 'A notice is received, and what it lacks is said.' },
  '23.2': { state: 'Whoever has its number learns its state, and none of its words.' },
  '23.3': {
    page: 'A form on a page leads to a page with the state, or back with all that was typed.',
  },
  '19.5': { errors: 'Errors have the codes of A2A, and those of section 11 with them.' },
} as const satisfies Record<string, Record<string, string>>;
