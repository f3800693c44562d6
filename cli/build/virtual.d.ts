/** Provided by cli/build/plugins.ts inside the executable only. */
declare module "virtual:third-party-notices" {
  /** Path of the embedded text, compressed with zstd. */
  const path: string;
  export default path;
}
