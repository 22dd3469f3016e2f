/** What is known of MCP here without the SDK. */

/** The name of the server, after its domain. */
export const NAME = 'open-presence-gateway';

/** The revisions that are spoken, newest first. The last four are those of clients with `initialize`. */
export const REVISIONS = [
  '2026-07-28',
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
] as const;

/** Bytes that one result holds of what visitors said; what is longer comes in pieces. */
export const PIECE: number = 64 * 1024;
