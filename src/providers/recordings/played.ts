import { DeadlineExceeded } from "../../toolkit/deadline.ts";
import type { Sending } from "../kit/network.ts";
import { textOf } from "./files.ts";
import type { AnswerLine, Missing } from "./format.ts";
import type { Exchange, Library } from "./library.ts";

interface Playing {
  readonly init: Pick<Sending["init"], "body">;
  /** Ids of the recorded task, and what stands for them in the present one. */
  readonly ids: ReadonlyMap<string, string>;
}

/** Answers a request as it was answered when it was recorded, at once. @throws what kept the answer from coming */
export async function answerOf(
  library: Pick<Library, "content">,
  { answer, none }: Pick<Exchange, "answer" | "none">,
  { init, ids }: Playing,
): Promise<Response> {
  if (none?.isUnsent !== true) await drain(init);
  if (answer === undefined) throw errorOf(none ?? { why: "no answer was recorded" });
  const stored = answer.body === undefined ? undefined : await library.content(answer.body);
  const bytes = stored && withIds(stored, ids);
  const headers = new Headers(answer.headers);
  if (bytes !== undefined && headers.has("content-length") && answer.broken === undefined)
    headers.set("content-length", String(bytes.length));
  const { status } = answer;
  return new Response(bodyOf(answer, bytes), { status, headers });
}

/** Takes the body as a connection would. */
async function drain({ body }: Playing["init"]): Promise<void> {
  if (body === undefined || body === null) return;
  // The kit's bodies come in pieces.
  for await (const _piece of body as unknown as AsyncIterable<Uint8Array>);
}

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

function bodyOf(
  { status, broken }: AnswerLine,
  bytes: Uint8Array | undefined,
): ReadableStream<Uint8Array> | null {
  if (WITHOUT_BODY.has(status)) return null;
  let isGiven = bytes === undefined;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (!isGiven && bytes !== undefined) {
        isGiven = true;
        controller.enqueue(bytes);
      } else if (broken === undefined) controller.close();
      else controller.error(errorOf(broken));
    },
  });
}

function errorOf({ why, isLate }: Missing): Error {
  return isLate === true ? new DeadlineExceeded(why) : new Error(why);
}

/** An upstream says back the ids that it was sent. */
function withIds(bytes: Uint8Array, ids: Playing["ids"]): Uint8Array {
  const text = ids.size === 0 ? undefined : textOf(bytes);
  if (text === undefined) return bytes;
  let present = text;
  for (const [recorded, now] of ids) present = present.replaceAll(recorded, now);
  return present === text ? bytes : Buffer.from(present);
}
