import { createHash } from "node:crypto";
import { S3Error } from "./errors.ts";

/** A file to be sent, which is read as often as needed. */
export interface Source {
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly type: string;
  read(at: number, length: number): Promise<Uint8Array>;
}

export interface WriteOptions {
  /** Writes nothing where an object is. */
  readonly isNew: boolean;
  /** How long each request is tried. */
  readonly patienceMs?: number | undefined;
}

/** What the service is found to lack. It is left out from then on. */
export interface Lacks {
  checksum: boolean;
  condition: boolean;
}

/** What every object of ours has. Its bytes never change. */
export function objectHeaders({ type }: Pick<Source, "type">): Record<string, string> {
  return { "content-type": type, "cache-control": "public, max-age=31536000, immutable" };
}

export const ONLY_IF_NEW = { "if-none-match": "*" } as const;

/** Tries work again without what the service says it does not implement. */
export async function withoutLacks<T>(lacks: Lacks, work: () => Promise<T>): Promise<T> {
  for (;;) {
    const before = { ...lacks };
    try {
      return await work();
    } catch (error) {
      const isLack = error instanceof S3Error && (error.status === 501 || error.code === "NotImplemented");
      if (!isLack || (before.checksum && before.condition)) throw error;
      if (before.checksum) lacks.condition = true;
      else lacks.checksum = true;
    }
  }
}

/** @throws S3Error, which may pass, where the service has other bytes than were sent */
export function requireChecksum(given: string | null | undefined, expected: string): void {
  if (given === null || given === undefined || given === expected) return;
  throw new S3Error("The bucket stored other bytes than were sent.", "XAmzContentChecksumMismatch");
}

/** @throws Error where the local file is not what was hashed when it came */
export function requireSame({ sha256 }: Pick<Source, "sha256">, found: string): void {
  if (found !== sha256)
    throw new Error(`A temporary file has other bytes than were written to it (SHA-256 ${sha256}).`);
}

export function sha256Of(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export function base64Of(hexadecimal: string): string {
  return Buffer.from(hexadecimal, "hex").toString("base64");
}
