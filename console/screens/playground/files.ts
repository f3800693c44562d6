import { newIdempotencyKey, untilAnswered, upload } from "../../api/ask.ts";
import { sizeText } from "../../parts/size.ts";
import type { Media } from "./request.ts";

export type MediaKind = "image" | "video" | "audio";

const MIB = 1024 * 1024;
/** The most of an input file, as docs/api.md 9 has it. */
const MOST_BYTES: Readonly<Record<MediaKind, number>> = { image: 10 * MIB, video: 64 * MIB, audio: 32 * MIB };
/** Larger files are uploaded: in the request, they would be written anew with each key that is pressed. */
const MOST_INLINE_BYTES = 300_000;
/** A request takes 32,000,000 bytes, and a file in it grows by a third. */
const MOST_CARRIED_BYTES = 23 * 1_000_000;
const MOST_PIXELS = 25_000_000;
const NAMES: Readonly<Record<MediaKind, string>> = {
  image: "A picture",
  video: "A video",
  audio: "A recording",
};
const TAKEN: Readonly<Record<MediaKind, string>> = {
  image: "PNG, JPEG or WebP",
  video: "MP4 or WebM",
  audio: "WAV, MP3, M4A or Ogg",
};

/** What a file field offers, so that a telephone shows its camera. */
export const ACCEPTED: Readonly<Record<MediaKind, string>> = {
  image: "image/*",
  video: "video/*",
  audio: "audio/*",
};

/**
 * A file as a request can have it. A picture that the service would not take, because of its form or its size, is made anew where
 * this browser can read it.
 *
 * @param onStep says what is done to it @throws Error that says what is wrong with the file and what to do
 */
export async function mediaOfFile(
  file: File,
  kind: MediaKind,
  onStep: (step: string) => void,
): Promise<Media> {
  const name = file.name === "" ? "pasted" : file.name;
  if (file.size === 0) throw new Error(`${name} is empty.`);
  onStep("Reading the file…");
  const type = typeOf(new Uint8Array(await head(file)));
  if (kind === "image") {
    const { blob, note } = await pictureOf(file, name, type);
    return mediaOfBlob(blob, { name, ...(note !== undefined && { note }) }, onStep);
  }
  if (file.size > MOST_BYTES[kind])
    throw new Error(
      `${name} has ${sizeText(file.size)}. ${NAMES[kind]} may have ${sizeText(MOST_BYTES[kind])}: make it shorter or smaller.`,
    );
  if (type?.startsWith(`${kind}/`) !== true)
    throw new Error(`${name} is no ${TAKEN[kind]} file, which is what the service reads.`);
  return mediaOfBlob(file.slice(0, file.size, type), { name }, onStep);
}

/** A file that the service takes: small ones are carried by the request, others uploaded. @throws Error that says why it cannot be */
export async function mediaOfBlob(
  blob: Blob,
  about: { readonly name: string; readonly note?: string },
  onStep: (step: string) => void,
): Promise<Media> {
  const { type } = blob;
  const carried = async () => ({ ...about, uri: await dataUri(blob), isShown: true });
  if (blob.size <= MOST_INLINE_BYTES) return carried();
  const key = newIdempotencyKey();
  onStep(`Uploading ${about.name}, ${sizeText(blob.size)}…`);
  try {
    const uri = await untilAnswered(
      () => upload(blob, key),
      () => onStep(`The service does not answer yet. ${about.name} is uploaded again until it does.`),
    );
    return { ...about, uri, type, isShown: true };
  } catch (error) {
    // The account's uploads may be full, or its key has had its requests for now.
    if (blob.size <= MOST_CARRIED_BYTES) return carried();
    throw new Error(`${about.name} cannot be uploaded. ${error instanceof Error ? error.message : error}`);
  }
}

const head = (file: Blob) =>
  file
    .slice(0, 32)
    .arrayBuffer()
    .catch(() => {
      throw new Error("The file cannot be read: it was moved or changed. Choose it again.");
    });

async function pictureOf(
  file: File,
  name: string,
  type: string | undefined,
): Promise<{ readonly blob: Blob; readonly note?: string }> {
  // Larger files are none that a camera makes, and reading one would fill the browser's memory.
  if (file.size > 100 * MIB)
    throw new Error(
      `${name} has ${sizeText(file.size)}. A picture may have ${sizeText(MOST_BYTES.image)}: make it smaller.`,
    );
  if (type !== undefined && !type.startsWith("image/"))
    throw new Error(`${name} is no picture. The service reads ${TAKEN.image}.`);
  const bitmap = await createImageBitmap(file).catch(() => undefined);
  if (bitmap === undefined) throw new Error(unreadable(name, type));
  try {
    const { width, height } = bitmap;
    const isTaken = type !== undefined && TYPES_TAKEN.includes(type);
    if (isTaken && file.size <= MOST_BYTES.image && width * height <= MOST_PIXELS)
      return { blob: file.slice(0, file.size, type) };
    const made = await madeAnew(bitmap, Math.min(1, Math.sqrt(16_000_000 / (width * height))));
    if (made.blob.size > MOST_BYTES.image)
      throw new Error(
        `${name} has transparent parts and is too large to be sent with them. Make it smaller, or save it as a JPEG.`,
      );
    const form = made.blob.type === "image/png" ? "PNG" : "JPEG";
    const note = isTaken ? `made smaller, ${made.width} × ${made.height}` : `made into a ${form}`;
    return { blob: made.blob, note };
  } finally {
    bitmap.close();
  }
}

function unreadable(name: string, type: string | undefined): string {
  if (type === "image/heic" || type === "image/avif")
    return `${name} is ${type === "image/heic" ? "a HEIC picture, as telephones take them" : "an AVIF picture"}, and neither this browser nor the service reads that. Save it as ${TAKEN.image}; on a telephone, set the camera to "most compatible".`;
  if (type === undefined) return `${name} is no picture that can be read. The service reads ${TAKEN.image}.`;
  return `${name} cannot be decoded: it is damaged or incomplete. Save it anew as ${TAKEN.image}.`;
}

const TYPES_TAKEN = ["image/png", "image/jpeg", "image/webp"];

async function madeAnew(bitmap: ImageBitmap, scale: number) {
  const width = Math.max(1, Math.round(bitmap.width * scale));
  const height = Math.max(1, Math.round(bitmap.height * scale));
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d");
  context?.drawImage(bitmap, 0, 0, width, height);
  const pixels = context?.getImageData(0, 0, width, height).data;
  // A JPEG has no transparent parts, which are all that a mask says.
  const isOpaque = pixels === undefined || everyFourth(pixels, 3, 255);
  const blob = await canvas.convertToBlob(
    isOpaque ? { type: "image/jpeg", quality: 0.92 } : { type: "image/png" },
  );
  return { width, height, blob };
}

function everyFourth(bytes: Uint8ClampedArray, from: number, value: number): boolean {
  for (let i = from; i < bytes.length; i += 4) if (bytes[i] !== value) return false;
  return true;
}

/** What a file is, by its first bytes; names and what the system says of it do not count. */
export function typeOf(bytes: Uint8Array): string | undefined {
  const text = String.fromCharCode(...bytes);
  if (text.startsWith("\x89PNG\r\n")) return "image/png";
  if (text.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(text)) return "image/gif";
  if (/^RIFF....WEBP/s.test(text)) return "image/webp";
  if (/^RIFF....WAVE/s.test(text)) return "audio/wav";
  if (text.startsWith("\x1a\x45\xdf\xa3")) return "video/webm";
  if (text.startsWith("OggS")) return "audio/ogg";
  if (text.startsWith("ID3") || /^\xff[\xe2-\xfb]/.test(text)) return "audio/mpeg";
  const brand = /^....ftyp(....)/s.exec(text)?.[1];
  if (brand === undefined) return undefined;
  if (/^(?:hei|hev|mif1|msf1)/.test(brand)) return "image/heic";
  if (/^avi[fs]/.test(brand)) return "image/avif";
  return /^M4[AB]/.test(brand) ? "audio/mp4" : "video/mp4";
}

function dataUri(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () =>
      reject(new Error("The file cannot be read: it was moved or changed. Choose it again."));
    reader.readAsDataURL(blob);
  });
}
