import type { Clock } from "../../domain/ports/runtime.ts";
import { DeadlineExceeded } from "../../toolkit/deadline.ts";
import { reasonOf } from "../kit/http.ts";
import type { Network, Sending } from "../kit/network.ts";
import type { Current } from "./context.ts";
import type { RecordedFiles } from "./files.ts";
import type { AnswerLine, ExchangeLine, Missing, SentLine, Stored } from "./format.ts";
import { keptHeaders, sentHeaders, withoutAddressKeys, withoutQuery, withoutValues } from "./masking.ts";
import { type BodyEnd, observed } from "./observed.ts";
import type { Tape } from "./tape.ts";

export interface Recording {
  readonly files: RecordedFiles;
  readonly clock: Clock;
  readonly network: Network;
  readonly add: Tape["add"];
}

/** Sends a request, and adds it with what comes of it once that is known. What is interrupted from here is not added. */
export async function recorded(
  recording: Recording,
  { account }: Current,
  sending: Sending,
): Promise<Response> {
  const { clock, network, add } = recording;
  const { use, init } = sending;
  const at = new Date(clock.now()).toISOString();
  const begun = { isUnsent: init.body !== undefined && init.body !== null };
  const line = async (came: Pick<ExchangeLine, "answer" | "none">): Promise<readonly ExchangeLine[]> => {
    const lane = account === undefined ? {} : { lane: account.lane };
    return [{ ...lane, use, at, sent: await sentLine(recording.files, sending), ...came }];
  };
  const isInterrupted = () =>
    init.signal?.aborted === true && !(init.signal.reason instanceof DeadlineExceeded);
  try {
    const response = await network.send({ ...sending, init: watched(init, begun) });
    return answered(recording, sending, response, ({ answer, drop }) => {
      const isDropped = isInterrupted();
      add(async () => {
        if (!isDropped) return await line({ answer: await answer() });
        await drop();
        return [];
      });
    });
  } catch (error) {
    const none = { ...missing(error, sending), ...(begun.isUnsent && { isUnsent: true as const }) };
    if (!isInterrupted()) add(() => line({ none }));
    throw error;
  }
}

/** Notes when the body begins to leave. */
function watched(init: Sending["init"], begun: { isUnsent: boolean }): Sending["init"] {
  if (init.body === undefined || init.body === null) return init;
  async function* body(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    begun.isUnsent = false;
    yield* pieces;
  }
  // The kit's bodies come in pieces.
  return { ...init, body: body(init.body as unknown as AsyncIterable<Uint8Array>) };
}

interface Ended {
  /** Makes its line. */
  answer(): Promise<AnswerLine>;
  /** In place of it. */
  drop(): Promise<void>;
}

/** The answer for its reader; `add` is called when the body has ended. */
function answered(
  { files }: Recording,
  sending: Sending,
  response: Response,
  add: (ended: Ended) => void,
): Response {
  const { use, secrets } = sending;
  const { status } = response;
  const headers = keptHeaders(response.headers, secrets.mask);
  const incoming = use === "file" && response.ok ? files.incoming(secrets) : undefined;
  const pieces: Uint8Array[] = [];
  const clean = use === "token" ? (text: string) => withoutValues(secrets.mask(text)) : undefined;
  const store = async (): Promise<Stored | undefined> => {
    if (incoming !== undefined) return await incoming.end();
    const content = Buffer.concat(pieces);
    return content.length === 0 ? undefined : await files.store(content, secrets, clean);
  };
  return observed(response, {
    piece(piece) {
      if (incoming === undefined) pieces.push(new Uint8Array(piece));
      else incoming.add(piece);
    },
    end(end: BodyEnd) {
      const broken = end.kind === "broken" ? { broken: missing(end.error, sending) } : {};
      const answer = async () => {
        const body = await store();
        return { status, headers, ...(body && { body }), ...broken };
      };
      add({ answer, drop: async () => incoming?.drop() });
    },
  });
}

function missing(error: unknown, { init, secrets }: Sending): Missing {
  const { reason }: { reason?: unknown } = init.signal ?? {};
  const why = reason instanceof DeadlineExceeded ? reason : error;
  return {
    why: withoutAddressKeys(secrets.mask(reasonOf(why))),
    ...(why instanceof DeadlineExceeded && { isLate: true as const }),
  };
}

async function sentLine(files: RecordedFiles, { unsigned, use, secrets }: Sending): Promise<SentLine> {
  const isToken = use === "token";
  const clean = (text: string) => withoutAddressKeys(secrets.mask(text));
  const { method, url, headers, body } = unsigned;
  const stored =
    body &&
    (await files.store(body.bytes, secrets, isToken ? (text) => withoutValues(secrets.mask(text)) : clean));
  return {
    method,
    url: clean(isToken ? withoutQuery(url) : url.href),
    headers: sentHeaders(headers, clean),
    ...(stored && { body: stored }),
  };
}
