import type { S3Client } from "./client.ts";
import { S3Error } from "./errors.ts";
import { ONLY_IF_NEW, sha256Of } from "./write.ts";
import { elementsOf, textOf } from "./xml.ts";

/** What a service of files or backups does with a bucket. */
export type BucketRight = "list" | "write" | "read" | "remove" | "list uploads";

/** What became of one of each request that a service needs. */
export interface Probed {
  /** The first that failed; nothing after it was tried. */
  readonly failure?: { readonly right: BucketRight; readonly error: S3Error } | undefined;
  /** How far this machine's clock is ahead of the service's, in milliseconds, as far as that says. */
  readonly aheadMs?: number | undefined;
  /** Whether a write on the condition that nothing is there is refused where something is. */
  readonly conditions?: "kept" | "ignored" | "unknown" | undefined;
  /** When uploads in parts were begun that nobody completed yet, in epoch milliseconds. */
  readonly uploadsBegunAt: readonly number[];
}

const PATIENCE_MS = 2_000;
const ANSWER_MS = 10_000;
const ASKED = { patienceMs: PATIENCE_MS, answerMs: ANSWER_MS };

/**
 * Tries one of each request that a service needs, with a small object below the prefix that is removed again.
 *
 * @param name of that object, which nothing else has
 */
export async function probeBucket(client: S3Client, name: string): Promise<Probed> {
  const { prefix } = client.bucket;
  const key = `${prefix}${name}`;
  const seen: { -readonly [Field in keyof Probed]: Probed[Field] } = { uploadsBegunAt: [] };
  let right: BucketRight = "list";
  try {
    const query = { "list-type": "2", prefix, "max-keys": "1" };
    const { headers } = await client.send({ method: "GET", query, ...ASKED });
    seen.aheadMs = aheadOf(client, headers);
    right = "write";
    await put(client, key, {});
    const remove = () => client.send({ method: "DELETE", key, answers: [404], ...ASKED });
    try {
      right = "read";
      await client.send({ method: "GET", key, ...ASKED });
      right = "write";
      seen.conditions = await keepsConditions(client, key);
    } catch (error) {
      await remove().catch(() => undefined);
      throw error;
    }
    right = "remove";
    await remove();
    right = "list uploads";
    const { text } = await client.send({ method: "GET", query: { uploads: "", prefix }, ...ASKED });
    seen.uploadsBegunAt = elementsOf(text, "Upload").flatMap((upload) => {
      const begunAt = Date.parse(textOf(upload, "Initiated") ?? "");
      return Number.isNaN(begunAt) ? [] : [begunAt];
    });
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    seen.failure = { right, error };
  }
  return seen;
}

function aheadOf(client: S3Client, headers: Headers): number | undefined {
  const there = Date.parse(headers.get("date") ?? "");
  return Number.isNaN(there) ? undefined : client.localNow() - there;
}

async function keepsConditions(client: S3Client, key: string): Promise<"kept" | "ignored" | "unknown"> {
  try {
    return (await put(client, key, ONLY_IF_NEW)) === 412 ? "kept" : "ignored";
  } catch (error) {
    if (error instanceof S3Error && (error.status === 501 || error.code === "NotImplemented"))
      return "unknown";
    throw error;
  }
}

async function put(client: S3Client, key: string, condition: Readonly<Record<string, string>>) {
  const bytes = Buffer.from("svc doctor looks whether it may write here, and removes this again.\n");
  const sha256 = sha256Of(bytes);
  const headers = { "content-type": "text/plain", ...condition };
  const body = { bytes, sha256 };
  return (await client.send({ method: "PUT", key, headers, body, answers: [412], ...ASKED })).status;
}
