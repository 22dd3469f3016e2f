/**
 * The port between a store and whoever puts the drafts of several gateways in one order: a stream, which
 * each gateway follows with a folder of its own, its replica of the log. A store gives a `Replica` in the
 * thread of the stream, and a `ReplicaFolder` before it is opened; the package of a cluster gives a
 * `Cluster`. Neither knows how the other does its part.
 *
 * - Drafts go to `Orderer`, and nowhere else, while the replica is open.
 * - The replica stores what `apply` and `withhold` give it, in their order, and nothing else.
 * - An entry is acknowledged once the stream and this replica have it.
 * - From the same batches and withholdings, in the same order, every replica makes the same log.
 */
import type { Seq, Withholding } from './log.ts';
import type { ApplyRequest, ApplyResponse, StreamPosition, WithheldForm } from './ordered-batch.ts';
import type { AppendingPort, AppendRequest, LargeBody, PackedDraft } from './packed-drafts.ts';

/** What a gateway loads of the package of a cluster. */
export interface Cluster {
  /**
   * Where the folder continues in the stream, which is made for an empty folder if there is none. Throws if the
   * folder is no replica of the stream's log, or if a server or the stream could lose what it acknowledges.
   */
  begin(
    folder: ReplicaFolder,
    address: StreamAddress,
    onUnchecked: (servers: readonly string[]) => void,
  ): Promise<ReplicaStart>;
  /** Follows the stream until the replica closes. Resolves once the replica may be read. */
  follow(replica: Replica, start: ReplicaStart): Promise<Orderer>;
  /**
   * Makes a stream that continues this log, its first replica, unless there is one. Throws if the stream orders
   * another log.
   */
  adopt(folder: ReplicaFolder, address: StreamAddress): Promise<void>;
  /** Throws where the replica lacks something of the stream, or another gateway may add to it. */
  requireAll(address: StreamAddress, replica: ReplicaLog): Promise<void>;
  /** Resolves with the servers that store nothing. Throws if a gateway would refuse them, or if none answers. */
  check(address: StreamAddress): Promise<readonly string[]>;
  /** Leads to the other gateways of the cluster. Connects in the background. */
  gateways(address: StreamAddress): GatewayTransport & AsyncDisposable;
}

/**
 * Carries what gateways tell one another and nobody stores. It may lose frames, but does not reorder those of
 * one gateway.
 */
export interface GatewayTransport {
  /** To all other gateways. Drops it while there is no connection. */
  send(frame: Uint8Array): void;
  /** Frames of all gateways, also of this one. */
  onFrame: (frame: Uint8Array) => void;
}

/** Can be sent to the thread that follows the stream. */
export interface ReplicaStart extends Omit<StreamPosition, 'stream' | 'head'> {
  readonly address: StreamAddress;
  readonly logName: string;
  /** Undefined for a replica that has applied nothing. */
  readonly stream: string | undefined;
  /** Servers whose settings could not be checked. */
  readonly unchecked: readonly string[];
}

/** Takes what this gateway's visitors say and its owner withholds. */
export interface Orderer {
  /** Answers the client when all drafts are stored here, or are not. */
  append(client: AppendingPort, request: AppendRequest): void;
  /** Resolves with how many entries have another state, once nothing is left of what is withheld. */
  withhold(cases: readonly OrderedCases[]): Promise<number | 'unavailable'>;
  /** Resolves when the replica has everything that any gateway had acknowledged. False if that is unknown now. */
  catchUp(): Promise<boolean>;
  /** Tells the stream why no gateway may store anything, or that all may. False if it did not confirm. */
  setReadOnly(reason: string | undefined): Promise<boolean>;
  /** Resolves once nothing is done any more, after the replica has closed. */
  readonly ended: Promise<void>;
}

/** Entries that are to be withheld, hidden or shown. */
export interface OrderedCases extends Pick<Withholding, 'reason' | 'state'> {
  readonly seqs: readonly Seq[];
}

/** In the thread of the stream. */
export interface Replica {
  /** 16 hexadecimal digits: the same at each start over the folder, others over a copy of it. */
  readonly identity: string;
  readonly state: ReplicaState;
  /** Aborted when the store closes. */
  readonly signal: AbortSignal;
  /** Aborted when the gateway begins to stop. */
  readonly stopping: AbortSignal;
  readonly uploads: UploadFiles;
  /** To be disposed of. Throws where the files cannot be read now. */
  reader(): ReplicaReader & Disposable;
  /** In the order of the calls. */
  apply(request: ApplyRequest): Promise<ApplyResponse['applied']>;
  /**
   * Resolves when all cases are listed, in one transaction. `erased` resolves with how many entries have another
   * state, once the text of the withheld ones is gone. Undefined if they cannot be listed now.
   */
  withhold(
    cases: readonly (OrderedCases & Pick<Withholding, 'time'>)[],
  ): Promise<{ readonly erased: Promise<number> } | undefined>;
  /** What was to be erased in the stream and is. */
  erasedInStream(erased: ErasedMessages): void;
  /** What the stream says now. */
  setReadOnly(reason: string | undefined): void;
  /** Reports why a part has begun to fail, or that it works again. */
  report(part: ReplicaPart, fault: Error | undefined): void;
  /** Repeats a step until the store closes, and reports its outcome. Throws any error that is no fault of a disk. */
  repeat(part: ReplicaPart, step: () => Promise<void>): Promise<void>;
  /** What a draft becomes, as the format of the log has it. */
  readonly format: LogFormat;
}

export type ReplicaPart = 'stream' | 'servers' | 'copies' | 'erasing' | 'uploads';

/** What all threads see at once. */
export interface ReplicaState {
  readonly head: Seq;
  /** False while the folder cannot store entries. */
  readonly writable: boolean;
  /** Whether the stream takes none. */
  streamHolding: boolean;
  /** How many messages the replica lacks, as far as it is known. */
  messagesBehind: number;
  /** How many servers of the stream do not have all of it, as far as is known. */
  missingServers: number;
  /** When it last had all that the stream had, in ms since 1970. */
  completeAt: number;
}

/** The files of uploads. What they throw for a fault of a disk, `isStorageFault` knows. */
export interface UploadFiles {
  /** Stores a body. Undefined where that fails, which is reported. */
  spool(body: Uint8Array): Promise<LargeBody | undefined>;
  /** An upload in its final place. Throws at the end if it has changed. */
  chunks(large: LargeBody, size: number): AsyncIterable<UploadChunk>;
  /** To where an upload is until it is whole. */
  write(name: string, chunk: UploadChunk): Promise<void>;
  /**
   * Moves it to its final place, flushed. Throws if the body is not what was sent. After a fault, all chunks must
   * be written again: a failed flush may have lost any of them.
   */
  place(large: LargeBody): Promise<void>;
  /** Removes what was received. What has its final place stays. */
  discard(name: string): Promise<void>;
  /** Removes it from its final place, too. */
  remove(name: string): Promise<void>;
}

export interface UploadChunk {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export interface ReplicaReader {
  /** In hex; undefined where there is no such entry, or it cannot be read. */
  linkAt(seq: Seq): string | undefined;
  /** Messages to be erased whose number is greater than `after`, the first `limit` of them. */
  erasures(after: number, limit: number): Erasure[];
  /** Uploads to be erased whose number is greater than `after`, the first `limit` of them. */
  unusedUploads(after: number, limit: number): UnusedUpload[];
  /** The names of all uploads that no draft gets. */
  unusedUploadNames(): Iterable<string>;
  /** The drafts of a message that made no entry, and the entry that had their key, or 0. */
  repeats(position: number): ReadonlyMap<number, Seq>;
  /** `facets`: what is left of those of the draft. */
  withheld(
    seq: Seq,
  ): (Pick<Withholding, 'time' | 'reason'> & Pick<PackedDraft, 'facets'>) | undefined;
  hasUpload(name: string): boolean;
}

/** A message that has to be erased in the stream, as a whole or in part. */
export interface Erasure {
  readonly number: number;
  readonly position: number;
  /** Seq of the first entry that its drafts made; 0 if nothing of it was applied. */
  readonly first: Seq;
}

/** An upload whose chunks are to be erased in the stream. */
export interface UnusedUpload {
  readonly number: number;
  readonly name: string;
}

/** These rows of what has to be erased in the stream are done. */
export interface ErasedMessages {
  readonly erasedMessages: readonly number[];
  readonly erasedUploads: readonly number[];
}

export interface LogFormat {
  /** All salts of a draft: `index` in the message with this nonce. */
  saltsOf(nonce: Uint8Array, index: number): Uint8Array;
  /** What is left of a draft whose entry was withheld. */
  withheldForm(
    draft: PackedDraft,
    salts: Uint8Array,
    withheld: Pick<Withholding, 'time' | 'reason'>,
  ): WithheldForm;
}

export interface ReplicaFolder {
  readonly path: string;
  /** Undefined for a log without entries. Throws if it has other entries than its stream gave it. */
  read(): ReplicaLog | undefined;
  /** What precedes a stream that goes on from this log. */
  beginning(): LogBeginning;
  /** Makes it a replica that has applied nothing of the stream. */
  join(stream: string): void;
}

export interface ReplicaLog {
  readonly name: string;
  readonly head: Seq;
  /** Undefined where no stream has put its entries in order. */
  readonly position: StreamPosition | undefined;
}

/** The part of a log that precedes its stream: each replica must have it. */
export interface LogBeginning {
  /** The seq of its last entry; 0 where the stream has all entries. */
  readonly head: Seq;
  /** The link of that entry, in hex. */
  readonly link: string;
  readonly withheld: number;
}

/** Where a cluster's stream is: `nats://a:4222,b:4222,c:4222/NAME`, or `tls://…?ca=FILE&cert=FILE&key=FILE&creds=FILE`. */
export interface StreamAddress {
  /** `HOST:PORT`. */
  readonly servers: readonly string[];
  readonly stream: string;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** Path of a file of credentials of NATS, read at each connection. */
  readonly credentials?: string | undefined;
  /** Paths of PEM files, read at each connection. Undefined for `nats://`. */
  readonly tls?: TlsFiles | undefined;
}

interface TlsFiles {
  /** Who the servers' certificates have to be from. Without it, whom the system trusts. */
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
}

const ADDRESS = /^(nats|tls):\/\/(?:([^:@/]+):([^@/]*)@)?([^@/?#]+)(?:\/([\w-]*))?(?:\?([^#]*))?$/;
const DEFAULT_STREAM = 'PRESENCE';
const TLS_FILES = { ca: 'caFile', cert: 'certFile', key: 'keyFile' } as const;

/** Undefined where the text is no such address. */
export function parseStreamAddress(text: string): StreamAddress | undefined {
  const [match, scheme, user, password, servers = '', stream = '', query] =
    ADDRESS.exec(text) ?? [];
  if (match === undefined) return undefined;
  const hosts = servers.split(',').map((host) => host.trim());
  const parameters = new URLSearchParams(query);
  const { creds: credentials, ...files } = Object.fromEntries(parameters);
  const isOnce = new Set(parameters.keys()).size === parameters.size;
  const isKnown = Object.keys(files).every((name) => scheme === 'tls' && name in TLS_FILES);
  // The client would compare the certificate with another name than an address.
  const isNamed =
    scheme === 'nats' || !hosts.some((host) => /^(?:[\d.]+|\[.*\])(?::|$)/.test(host));
  const isAddress = hosts.every((host) => host !== '' && URL.canParse(`nats://${host}`));
  const isEncoded = [user, password].every(isPercentEncoded);
  if (!isAddress || !isOnce || !isKnown || !isNamed || !isEncoded) return undefined;
  const given = Object.entries(TLS_FILES).filter(([name]) => files[name] !== undefined);
  return {
    servers: hosts,
    stream: stream === '' ? DEFAULT_STREAM : stream,
    user: user && decodeURIComponent(user),
    password: password && decodeURIComponent(password),
    credentials,
    tls:
      scheme === 'tls'
        ? Object.fromEntries(given.map(([name, option]) => [option, files[name]]))
        : undefined,
  };
}

function isPercentEncoded(text = ''): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
