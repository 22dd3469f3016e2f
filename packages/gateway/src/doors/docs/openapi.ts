/**
 * The OpenAPI document of the REST interface, read in a thread when it is first requested.
 *
 * Invariant: Every example of the OpenAPI document works as it stands, and the document lists every
 *   path and parameter of the REST interface.
 * Test: `test/openapi/examples.test.ts` “is answered as it says, when it is sent as it stands or by
 *   mistake” “is what the gateway serves by REST, with the same parameters”
 */
import type { Language } from '@open-presence/protocol';

import { contentHash } from '../../http/response/response.ts';
import { postedBy, threadModule } from '../../thread-module.ts';
import type { DoorContext, DoorHandler } from '../context.ts';
import { send } from './files.ts';

/** What the operator of a gateway decides of the document. */
export interface OperatorChoices {
  readonly language: Language;
  readonly publicUrl: string | undefined;
}

/** The document in both forms. */
export interface OpenApi {
  readonly json: Uint8Array;
  readonly yaml: Uint8Array;
}

const documents = new WeakMap<DoorContext, Promise<OpenApi>>();

export function openApi(form: keyof OpenApi): DoorHandler {
  return async (context) => {
    const body = (await documentOf(context.app))[form];
    await send(context, `application/${form}`, body, contentHash(body));
  };
}

async function documentOf(app: DoorContext): Promise<OpenApi> {
  const document = documents.get(app) ?? loadDocument(app);
  documents.set(app, document);
  try {
    return await document;
  } catch (error) {
    documents.delete(app);
    throw error;
  }
}

async function loadDocument({ language, publicUrl }: DoorContext): Promise<OpenApi> {
  const choices: OperatorChoices = { language, publicUrl };
  const module = threadModule('./openapi-thread', import.meta.url);
  return (await postedBy(module, choices)) as OpenApi;
}
