/** Provided by cli/build/plugins.ts inside the executable only. */
declare module "virtual:third-party-notices" {
  /** Path of the embedded text, compressed with zstd. */
  const path: string;
  export default path;
}

declare module "virtual:console" {
  /** Path of the embedded pack (`src/toolkit/file-pack.ts`). */
  const path: string;
  export default path;
}

declare module "virtual:api-reference" {
  /** Path of the embedded script, compressed with gzip. */
  const path: string;
  export default path;
}
