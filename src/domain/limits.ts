import type { MediaKind } from "./media/asset.ts";
import type { TaskKind } from "./task/request.ts";

const MIB = 1024 * 1024;

/*
 * Sizes, counts and times (docs/api.md 9). Each limit has a test at it and one past it (test/e2e/limits.test.ts, or beside what it
 * limits). Limits of decoding are in assets/limits.ts, limits of fetching in egress/limits.ts.
 */

/** How long a request to the default address may take, unless the operator says otherwise (docs/api.md 1.2). */
export const EDGE_TIMEOUT_MS = 120_000;
/** How long a synchronous call waits for its images, unless the operator says otherwise (docs/api.md 5.4). */
export const SYNC_WAIT_MS = 300_000;
/** Most characters of an `Idempotency-Key` (docs/api.md 4.4). */
export const MAX_IDEMPOTENCY_KEY = 255;
/** For how long the answer to an accepted create can be repeated (docs/api.md 4.4). */
export const IDEMPOTENCY_RETENTION_MS = 7 * 24 * 60 * 60 * 1000;
/** `Retry-After` while the first request with a key is being processed (docs/api.md 4.4). */
export const IN_PROGRESS_RETRY_SEC = 1;
/** Most attempts to deliver one callback (docs/api.md 6.2). */
export const MAX_CALLBACK_ATTEMPTS = 5;
/** The same for a callback whose form is not our own. */
export const MAX_FORM_ATTEMPTS = 20;
/** Delays before attempts 2 to 5 of a callback, unless the operator says otherwise: 5 s, 1 min, 10 min, 1 h. */
export const CALLBACK_DELAYS_MS: readonly number[] = [5_000, 60_000, 600_000, 3_600_000];
/** How often the redelivery of one callback can be requested in all. */
export const MAX_CALLBACK_REDELIVERIES = 100;
/** How much of a receiver's answer is kept for inspection. */
export const CALLBACK_EXCERPT_BYTES = 512;
/** Most characters of a prompt on the synchronous images API (docs/api.md 5.1). */
export const MAX_COMPAT_PROMPT = 4000;
/** Most images to edit in one request (docs/api.md 5.2); each has at most `MAX_INPUT_BYTES.image`. */
export const MAX_EDIT_IMAGES = 10;
/** Size of a form with all its files: ten images, a mask, and fields. */
export const MAX_FORM_BYTES = 116 * MIB;
/** Memory for all bodies being read, how many are read at once, and memory for those that wait unread (docs/api.md 9). */
export const INGRESS_LIMITS = { bytes: 64 * MIB, bodies: 32, waiting: 48 * MIB } as const;
/** How long a task is kept for a client that stopped waiting and may repeat its request. */
export const ORPHAN_KEEP_MS = 10 * 60 * 1000;

/** One input file of a task. */
export const MAX_INPUT_BYTES: Readonly<Record<MediaKind, number>> = {
  image: 10 * MIB,
  video: 64 * MIB,
  audio: 32 * MIB,
};
/** Most uploaded files of an account at one time, whatever their size. */
export const MAX_UPLOADED_FILES = 10_000;
/** Most characters of an uploaded file's name. */
export const MAX_FILE_NAME = 255;
/** One output of an upstream. */
export const MAX_OUTPUT_BYTES: Readonly<Record<TaskKind, number>> = { image: 64 * MIB, video: 1024 * MIB };
/**
 * Most tasks of a lane that wait for their results without a place of it. Each of them was paid for and may be lost, so more of them take
 * places from new tasks.
 */
export const MOST_AWAITING_RESULTS = 1_000;
/** The address under which a provider fetches an input is valid for one to two times this long. */
export const INPUT_ADDRESS_MS = 24 * 60 * 60 * 1000;
/** The body of an upstream's call about a job. */
export const MAX_HOOK_BYTES = 64 * 1024;
/** A JSON body as it arrives. */
export const MAX_JSON_BYTES = 32_000_000;
/** The same without the content of data URIs. */
export const MAX_JSON_TEXT_BYTES = 1_000_000;
/** Levels of nested objects and arrays in a JSON body. */
export const MAX_JSON_DEPTH = 32;
/** Most fields and values of a JSON body. Each entry of a list counts once. Each field counts twice: its name and its value. */
export const MAX_JSON_TOKENS = 20_000;
/**
 * A data URI of at least this size is decoded while it arrives, up to `MAX_INLINE_FILES` in one body. Smaller ones count as
 * text.
 */
export const INLINE_FILE_FROM_BYTES = 16 * 1024;
export const MAX_INLINE_FILES = 32;
/** Longest `?wait=` on status requests, in seconds. */
export const MAX_STATUS_WAIT_SEC = 60;
/** Most tasks in one page of a listing. */
export const MAX_LIST_LIMIT = 100;
/** Most accounts, keys or tokens in one page of a listing. */
export const MAX_RECORD_LIMIT = 1_000;
