import type { Ownership } from "../owner.ts";
import type { S3Client } from "./client.ts";
import { KeyedObjects } from "./keyed.ts";
import type { Source } from "./write.ts";

/** Objects below the prefix of a bucket, by the rest of their keys. @param ownership of the prefix, which whatever is changed needs */
export function openShelf(client: S3Client, ownership?: Ownership, partBytes?: number) {
  const { bucket } = client;
  const requireOwn = async () => {
    if (ownership === undefined) throw new Error("This place was opened for reading alone.");
    await ownership.require();
  };
  const objects = new KeyedObjects(client, partBytes, requireOwn);
  const keyOf = (name: string) => `${bucket.prefix}${name}`;
  return {
    where: `s3://${bucket.name}/${bucket.prefix}`,
    requireOwn,
    async put(name: string, source: Omit<Source, "type">): Promise<void> {
      await objects.put(keyOf(name), { ...source, type: "application/octet-stream" }, { isNew: true });
    },
    read: ({ name, sizeBytes }: { readonly name: string; readonly sizeBytes: number }) =>
      objects.read(keyOf(name), sizeBytes),
    async *list(prefix: string) {
      for await (const { key, sizeBytes } of objects.all(keyOf(prefix)))
        yield { name: key.slice(bucket.prefix.length), sizeBytes };
    },
    remove: (name: string) => objects.remove(keyOf(name)),
    /** Nobody but the owner writes here, one process at a time: what was begun is nobody's any more. */
    async abandon(prefix: string): Promise<void> {
      await objects.abandonUploads(keyOf(prefix), Number.NEGATIVE_INFINITY);
    },
  };
}
