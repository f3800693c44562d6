import { describe, expect, test } from "bun:test";
import { type Part, transfer } from "../../../cli/client/transfer.ts";
import { EXIT } from "../../../cli/exit-codes.ts";
import { Failure } from "../../../cli/failure.ts";
import { fakeTiming } from "../support.ts";

const FILE = new TextEncoder().encode("0123456789abcdef");
const SHA256 = new Bun.CryptoHasher("sha256").update(FILE).digest("hex");
const URL = "http://x/assets/asset_1.png";

/** Brings some bytes, and then breaks off, falls silent or ends. */
type End = "breaks" | "falls silent" | "ends";
interface Answer {
  readonly status?: number;
  readonly from?: number;
  readonly bytes: number;
  readonly ending: End;
  readonly file?: Uint8Array;
}

function answer(
  { status = 200, from = 0, bytes, ending, file = FILE }: Answer,
  signal: AbortSignal,
): Response {
  let isBegun = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (!isBegun && bytes > 0) controller.enqueue(file.slice(from, from + bytes));
      else if (ending === "breaks") controller.error(new Error("reset"));
      else if (ending === "ends") controller.close();
      else
        return new Promise((_, reject) =>
          signal.addEventListener("abort", () => reject(new Error("silent"))),
        );
      isBegun = true;
    },
  });
  return new Response(body, {
    status,
    headers: {
      "Content-Type": "image/png; charset=none",
      "Content-Length": String(file.length - from),
      ETag: `"${SHA256}"`,
      ...(status === 206 ? { "Content-Range": `bytes ${from}-${file.length - 1}/${file.length}` } : {}),
    },
  });
}

/** Transfers with these answers, one after the other. */
async function run(answers: readonly (Answer | Failure)[]) {
  const asked: Pick<Part, "from" | "etag">[] = [];
  let saved = new Uint8Array();
  const timing = fakeTiming();
  const result = await transfer({
    url: URL,
    timing,
    signal: new AbortController().signal,
    silenceMs: 20,
    sink: {
      async write(bytes) {
        saved = new Uint8Array([...saved, ...bytes]);
      },
      async restart() {
        saved = new Uint8Array();
      },
    },
    async fetchPart({ from, etag, signal }) {
      asked.push({ from, etag });
      const next = answers[Math.min(asked.length, answers.length) - 1];
      if (next === undefined || next instanceof Failure) throw next;
      return answer(next, signal);
    },
  }).catch((error: unknown) => error);
  return { result, asked, saved: new TextDecoder().decode(saved) };
}

const WHOLE = {
  result: { sizeBytes: 16, sha256: SHA256, contentType: "image/png" },
  saved: "0123456789abcdef",
};
const REST = { from: 5, etag: `"${SHA256}"` };

describe("a file", () => {
  test.each(["breaks", "falls silent", "ends"] as const)(
    "whose connection %s is fetched from there on, if it is still the same",
    async (ending) => {
      const { result, saved, asked } = await run([
        { bytes: 5, ending },
        { status: 206, from: 5, bytes: 11, ending: "ends" },
      ]);
      expect({ result, saved }).toEqual({ ...WHOLE, result: expect.objectContaining(WHOLE.result) });
      expect(asked).toEqual([{ from: 0, etag: undefined }, REST]);
    },
  );

  test("begins again where the server sends all of it", async () => {
    const { saved } = await run([
      { bytes: 5, ending: "breaks" },
      { bytes: 16, ending: "ends" },
    ]);
    expect(saved).toBe(WHOLE.saved);
  });

  test("outlives a server that restarts", async () => {
    const gone = new Failure(EXIT.unreachable, "server_unreachable", "Gone.");
    const rest = { status: 206, from: 5, bytes: 11, ending: "ends" } as const;
    expect((await run([{ bytes: 5, ending: "breaks" }, gone, gone, rest])).saved).toBe(WHOLE.saved);
  });

  test("that arrives damaged is fetched once more, and then given up", async () => {
    const damaged = {
      bytes: 16,
      ending: "ends",
      file: new TextEncoder().encode("0123456789abcdeX"),
    } as const;
    expect((await run([damaged, { bytes: 16, ending: "ends" }])).saved).toBe(WHOLE.saved);
    expect((await run([damaged])).result).toMatchObject({ code: "download_damaged" });
  });

  test("that is cut time and again without a byte more is given up", async () => {
    const { result, asked } = await run([
      { bytes: 5, ending: "breaks" },
      { status: 206, from: 5, bytes: 0, ending: "breaks" },
    ]);
    expect(result).toMatchObject({ code: "download_cut", exitCode: EXIT.unreachable });
    expect(asked).toHaveLength(6);
  });

  test("of which another part comes is not put together", async () => {
    const { result } = await run([
      { bytes: 5, ending: "breaks" },
      { status: 206, from: 4, bytes: 12, ending: "ends" },
    ]);
    expect(result).toMatchObject({ code: "unexpected_answer" });
  });
});
