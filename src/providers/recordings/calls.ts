import type { LaneId } from "../../domain/ids.ts";
import type { Json } from "../../domain/json.ts";
import {
  type InputFile,
  type ProviderAdapter,
  ProviderError,
  type RecoverRequest,
} from "../../domain/ports/provider.ts";
import type { Context, Current } from "./context.ts";
import type { CallLine } from "./format.ts";

/** A call of an adapter and its result, as far as JSON can represent it. */
export interface Call extends Pick<CallLine, "call" | "lane"> {
  readonly with: unknown;
  readonly came?: unknown;
  readonly threw?: unknown;
  /** Of the request; their content is stored apart. */
  readonly inputs?: readonly InputFile[] | undefined;
}

export type OnCall = (current: Current, call: Call) => void;

/** An adapter whose calls are told of when they are over. */
export function taped(
  adapter: ProviderAdapter,
  context: Context,
  onCall: OnCall,
  given?: Json,
): ProviderAdapter {
  const { lane, poll, cancel, recover, fetchOutput, withTerms } = adapter;
  const account = () => ({ lane, terms: given ?? adapter.terms?.() });
  const tell = createTelling(lane, onCall);
  const told = <T>(
    call: Call["call"],
    about: Pick<Call, "with" | "inputs">,
    signal: AbortSignal,
    work: () => Promise<T>,
  ) =>
    context.inAccount(account(), (current) =>
      current ? tell(current, { call, ...about }, signal, work) : work(),
    );
  return {
    ...adapter,
    submit: (request, signal) =>
      told("submit", aboutOf(request), signal, () => adapter.submit(request, signal)),
    ...(poll && {
      poll: (operation, signal, previews) =>
        told("poll", { with: operation }, signal, () => poll(operation, signal, previews)),
    }),
    ...(cancel && {
      cancel: (operation, signal) =>
        told("cancel", { with: operation }, signal, () => cancel(operation, signal)),
    }),
    ...(recover && {
      recover: (request, signal) => told("recover", aboutOf(request), signal, () => recover(request, signal)),
    }),
    ...(fetchOutput && {
      fetchOutput: (ref, signal) =>
        context.inAccount(account(), (current) => {
          const fetched = () => fetchOutput(ref, signal);
          return current ? fetching(tell, current, { ref, signal }, fetched) : fetched();
        }),
    }),
    ...(withTerms && {
      withTerms: (terms) => taped(withTerms(terms), context, onCall, terms),
    }),
  };
}

type Tell = ReturnType<typeof createTelling>;

function createTelling(lane: LaneId, onCall: OnCall) {
  return async <T>(
    current: Current,
    about: Omit<Call, "lane">,
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> => {
    try {
      const came = await work();
      onCall(current, { ...about, lane, came: came ?? null });
      return came;
    } catch (error) {
      if (!signal.aborted) onCall(current, { ...about, lane, threw: thrown(error) });
      throw error;
    }
  };
}

/** A file is told of once all of it was read. */
async function fetching(
  tell: Tell,
  current: Current,
  { ref, signal }: { readonly ref: Json; readonly signal: AbortSignal },
  work: () => Promise<AsyncIterable<Uint8Array>>,
): Promise<AsyncIterable<Uint8Array>> {
  const { promise, resolve, reject } = Promise.withResolvers<Json>();
  const told = tell(current, { call: "fetchOutput", with: ref }, signal, () => promise);
  // Its reader gets the error.
  told.catch(() => undefined);
  try {
    return counted(await work(), { resolve, reject });
  } catch (error) {
    reject(error);
    throw error;
  }
}

async function* counted(
  content: AsyncIterable<Uint8Array>,
  { resolve, reject }: { resolve(came: Json): void; reject(error: unknown): void },
): AsyncGenerator<Uint8Array> {
  const hasher = new Bun.CryptoHasher("sha256");
  let bytes = 0;
  try {
    for await (const piece of content) {
      hasher.update(piece);
      bytes += piece.length;
      yield piece;
    }
    resolve({ bytes, sha256: hasher.digest("hex") });
  } catch (error) {
    reject(error);
    throw error;
  }
}

/** What is to be made. Ids of stored files are left out: they give access. */
function aboutOf({ inputs, request, ...rest }: RecoverRequest): Pick<Call, "with" | "inputs"> {
  const { attempt, upstreamModel, wording } = rest;
  return { with: { attempt, upstreamModel, wording, request: { ...request, inputs: [] } }, inputs };
}

/** What an error of an adapter says. */
export function thrown(error: unknown): unknown {
  if (!(error instanceof ProviderError))
    return { message: error instanceof Error ? error.message : String(error) };
  const { disposition, code, message } = error;
  return { disposition, code, message };
}

/** As JSON, with a file by its hash. */
export function inJson(value: unknown): string {
  return JSON.stringify(value, (_name, each: unknown) => {
    if (typeof each === "bigint") return String(each);
    if (!(each instanceof Uint8Array)) return each;
    return { bytes: each.length, sha256: new Bun.CryptoHasher("sha256").update(each).digest("hex") };
  });
}
