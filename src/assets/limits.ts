/* How much of a media file is read, decoded and kept. Callers of the store may ask for less, never for more. */

/** Width × height, orientation aside. */
export const IMAGE_MAX_PIXELS = 25_000_000;
/**
 * Memory for each pixel of a picture that is decoded as a whole: 8 for WebP, 5 for interlaced PNG and progressive JPEG (anonymous memory while
 * pictures of 25 million pixels were checked, 2026-12). Others are decoded row by row and take little.
 */
export const WHOLE_PIXEL_BYTES = 8;
export const IMAGE_MAX_SIDE = 16_384;
/** A file of the largest picture, even when it does not compress. */
export const IMAGE_MAX_BYTES = 64 * 1024 * 1024;
/** Decompressed size of a colour profile inside a PNG; real ones are below 1 MiB. */
export const COLOUR_PROFILE_MAX_BYTES = 4 * 1024 * 1024;
/** Scans of a progressive JPEG; each one costs a pass over the whole picture. Encoders write about ten. */
export const JPEG_MAX_SCANS = 64;
/** Chunks of a PNG and parts of a GIF, each of which costs a step. Encoders write a few thousand into the largest pictures. */
export const IMAGE_MAX_PARTS = 50_000;
/** The same of others, where a part costs more. The largest segments of a JPEG fill it with a thousand, and a WebP has about six chunks. */
export const JPEG_MAX_SEGMENTS = 5_000;
export const WEBP_MAX_CHUNKS = 1_000;
/** Frames of a GIF, and the pixels of all of them, each as large as the picture. */
export const GIF_MAX_FRAMES = 2_000;
export const GIF_MAX_PIXELS = 500_000_000;
/** A drawing (SVG), which is parsed as a whole. Those with tens of thousands of paths have about 2 MiB. */
export const SVG_MAX_BYTES = 8 * 1024 * 1024;
export const SVG_MAX_ELEMENTS = 100_000;
export const SVG_MAX_ATTRIBUTES = 500_000;
/** Elements inside one another. */
export const SVG_MAX_DEPTH = 256;
/** Elements drawn, those that others use once more for each use. */
export const SVG_MAX_DRAWN = 1_000_000;
export const IMAGE_DECODE_SECONDS = 10;
/** Images decoded at once, for the whole process, and recordings checked at once. */
export const DECODE_SLOTS = 2;
/** Memory for the largest pictures in all slots. */
export const DECODE_BYTES = DECODE_SLOTS * IMAGE_MAX_PIXELS * WHOLE_PIXEL_BYTES;
/** How long a recording or a drawing is read. A video of the largest size takes a few seconds on a busy machine. */
export const THREAD_SECONDS = 120;

export const VIDEO_MAX_BYTES = 512 * 1024 * 1024;
export const VIDEO_MAX_SIDE = 8_192;
export const VIDEO_MAX_DURATION_MS = 600_000;
/** The index of an MP4 (`moov`, `moof`, `sidx`), which is read into memory as a whole. Ten minutes need about 1 MiB. */
export const VIDEO_INDEX_MAX_BYTES = 16 * 1024 * 1024;
/** The same of a WebM: all but its clusters. What it lists takes some twenty times as much memory. */
export const WEBM_INDEX_MAX_BYTES = 8 * 1024 * 1024;
/** A cluster of a WebM, which is read into memory as a whole too. It has up to half a minute, and encoders write a few MiB. */
export const WEBM_CLUSTER_MAX_BYTES = 64 * 1024 * 1024;

export const AUDIO_MAX_BYTES = 64 * 1024 * 1024;
export const AUDIO_MAX_DURATION_MS = 600_000;

/** How much of a file's beginning is looked at to tell its type. */
export const SNIFF_BYTES = 512;
/** Frames and other entries an MP4's index may speak of, all tables together. */
export const VIDEO_MAX_SAMPLES = 2_000_000;
