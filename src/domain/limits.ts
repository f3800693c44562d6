import type { MediaKind } from "./asset.ts";

/** Sizes that decide what is taken; each has a test at the limit and one past it. */
const MIB = 1024 * 1024;

/** One input file of a task. */
export const MAX_INPUT_BYTES: Readonly<Record<MediaKind, number>> = { image: 10 * MIB, video: 64 * MIB };
/** One output of an upstream. */
export const MAX_OUTPUT_BYTES: Readonly<Record<MediaKind, number>> = { image: 64 * MIB, video: 1024 * MIB };
/** A JSON body as it arrives. */
export const MAX_JSON_BYTES = 32_000_000;
/** The same once the content of data URIs is left out. */
export const MAX_JSON_TEXT_BYTES = 1_000_000;
/** Objects and arrays within one another in a JSON body. */
export const MAX_JSON_DEPTH = 32;
/** `?wait=` on status requests, in seconds. */
export const MAX_STATUS_WAIT_SEC = 60;
/** Tasks in one page of a listing. */
export const MAX_LIST_LIMIT = 100;
