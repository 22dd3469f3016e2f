/** What the threads that append and withhold are asked, and the writer's thread. */
import type { ApplyRequest, ApplyResponse } from '../../log/ordered-batch.ts';
import type { ErasedMessages } from '../../log/replica.ts';
import type { CopyRequest, CopyResponse } from '../replica/copy-batch.ts';
import type { Cases } from '../withholding/withheld-table.ts';

/** `time`: that of the writer if it is undefined. */
export type CasesToList = Omit<Cases, 'time'> & { readonly time: number | undefined };

/** Nothing was changed. */
export type WithholdFailure = 'out-of-space' | 'unavailable';

/** The calls of the thread that takes drafts: the writer's or, in a cluster, the stream's. */
export interface AppendThreadCalls {
  /** How many entries have another state, once nothing is left of what is withheld. All or none. */
  withhold(cases: readonly CasesToList[]): Promise<number | WithholdFailure>;
  /** Whether this copy has everything that its cluster acknowledged. False if that is unknown now. */
  catchUp(nothing: undefined): Promise<boolean>;
  /** In a cluster: see `Orderer`. */
  setReadOnly(reason: string | undefined): Promise<boolean>;
}

export interface WriterCalls extends Omit<AppendThreadCalls, 'catchUp' | 'setReadOnly'> {
  /** Answers after the cases are listed, with a number by which to ask for the rest. */
  decide(cases: readonly CasesToList[]): number | WithholdFailure;
  /** As `withhold`. `decision`: from `decide`. */
  erased(decision: number): Promise<number>;
  apply(request: ApplyRequest): ApplyResponse['applied'];
  copy(request: CopyRequest): CopyResponse;
  erasedInStream(erased: ErasedMessages): void;
}
