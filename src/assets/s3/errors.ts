import { StorageError } from "../../domain/ports/task-store.ts";
import { type Bucket, nameOf } from "./bucket.ts";
import { textOf } from "./xml.ts";

/** A request to a bucket that failed. */
export class S3Error extends Error {
  override readonly name: string = "S3Error";
  constructor(
    message: string,
    /** As the service names it, such as `AccessDenied`; `unreachable` or `late` where there was no answer. */
    readonly code: string,
    readonly status?: number | undefined,
    cause?: unknown,
    /** The region that the bucket is in, where the service says so. */
    readonly region?: string | undefined,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

/**
 * Error codes of temporary problems (https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html, checked 2026-11-23). The
 * middle ones mean that bytes changed in transit.
 */
const PASSING = new Set([
  ...["unreachable", "late", "RequestTimeout", "SlowDown", "InternalError", "ServiceUnavailable"],
  ...[
    "BadDigest",
    "InvalidDigest",
    "XAmzContentSHA256Mismatch",
    "XAmzContentChecksumMismatch",
    "IncompleteBody",
  ],
  ...["OperationAborted", "ConditionalRequestConflict", "RequestTimeTooSkewed"],
]);
const PASSING_STATUS = new Set([408, 409, 425, 429, 500, 502, 503, 504]);

/** Whether the same request may succeed later. */
export function mayPass({ code, status = 0 }: S3Error): boolean {
  return PASSING.has(code) || PASSING_STATUS.has(status);
}

/** Whether it says that there is no such object, and not that there is no bucket. */
export function isAbsence(error: unknown): boolean {
  return error instanceof S3Error && error.code === "NoSuchKey";
}

/** What to do about errors. @param settings where those of the bucket are */
const ADVICE: Readonly<Record<string, (settings: string) => string>> = {
  AccessDenied: () =>
    "See whether the bucket's policy lets this key list, read, write and delete below the prefix",
  InvalidAccessKeyId: (settings) => `See the variables that ${settings}.key_env names`,
  SignatureDoesNotMatch: (settings) =>
    `See the variables that ${settings}.key_env names, and ${settings}.region`,
  ExpiredToken: () => "The session token has expired: give new keys and start again",
  RequestTimeTooSkewed: () => "Set this machine's clock",
  NoSuchBucket: (settings) =>
    `See ${settings === "assets" ? "assets.bucket" : "the name of the bucket"} and ${settings}.endpoint`,
  PermanentRedirect: (settings) =>
    `The bucket is in another region: see ${settings}.region and ${settings}.endpoint`,
  AuthorizationHeaderMalformed: (settings) => `The bucket is in another region: see ${settings}.region`,
};

/** An answer that is an error, in words that hold no key. */
export function errorOf(bucket: Bucket, doing: string, answer: { status: number; text: string }): S3Error {
  const { status, text } = answer;
  const code =
    textOf(text, "Code") ?? (status === 301 || status === 307 ? "PermanentRedirect" : `status ${status}`);
  const said = textOf(text, "Message")?.slice(0, 200);
  const { accessKeyId } = bucket.keys();
  const detail = said === undefined || said.includes(accessKeyId) ? "" : ` (${said})`;
  const advice = ADVICE[code]?.(bucket.settings ?? "assets");
  const end = advice === undefined ? "" : ` ${advice}.`;
  return new S3Error(
    `The bucket ${nameOf(bucket)} answered ${status} ${code}${detail} to ${doing}.${end}`,
    code,
    status,
    undefined,
    textOf(text, "Region"),
  );
}

/** Runs work with a bucket. What the bucket refuses becomes a StorageError. */
export async function inBucket<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof S3Error) throw new StorageError("away", error.message, error);
    throw error;
  }
}
