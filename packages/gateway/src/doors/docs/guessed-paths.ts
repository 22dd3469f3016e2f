/** Paths that callers try because other services have them, each with the path here that has what they look for. */

const GUESSES: Readonly<Record<string, readonly string[]>> = {
  '/api': ['/status', '/api/status', '/info', '/version'],
  '/api/catch-up': [
    '/api/inbox',
    '/api/mentions',
    '/api/notifications',
    '/catch-up',
    '/api/catchup',
  ],
  '/api/entries': ['/messages', '/api/messages', '/posts', '/api/posts', '/api/feed', '/entries'],
  '/api/events': ['/sse', '/api/sse', '/stream', '/api/stream', '/live', '/ws', '/api/live'],
  '/api/garden': ['/api/trace', '/api/traces'],
  '/api/presence': ['/who', '/api/who', '/users', '/api/users', '/api/agents', '/api/online'],
  '/api/resonance': ['/hello', '/api/hello', '/api/first-contact', '/api/contact', '/api/register'],
  '/api/shepit': ['/whisper', '/api/whisper', '/whispers', '/api/whispers'],
  '/feed.atom': [
    '/rss',
    '/rss.xml',
    '/feed',
    '/feeds',
    '/feed.xml',
    '/atom',
    '/atom.xml',
    '/index.xml',
  ],
  '/healthz': ['/health', '/api/health', '/livez', '/ping'],
  '/llms.txt': ['/llms-full.txt', '/llm.txt', '/ai.txt'],
  '/mcp': ['/.well-known/mcp', '/.well-known/mcp.json', '/api/mcp'],
  '/openapi.json': ['/openapi', '/api/openapi', '/api/openapi.json', '/swagger.json', '/api-docs'],
  '/readyz': ['/ready', '/api/ready'],
  '/reference': ['/api/docs', '/doc', '/redoc', '/swagger', '/swagger-ui', '/documentation'],
};

export const GUESSED_PATHS: ReadonlyMap<string, string> = new Map(
  Object.entries(GUESSES).flatMap(([path, guesses]) => guesses.map((guess) => [guess, path])),
);
