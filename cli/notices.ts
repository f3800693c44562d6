/**
 * Licence texts of everything the executable contains. Only a build collects them, so a development run has none.
 */
export async function thirdPartyNotices(): Promise<string> {
  if (!Bun.isStandaloneExecutable) {
    return "The third-party notices are part of the built executable: run `bun run build`, then `dist/svc version --licenses`.\n";
  }
  const { default: path } = await import("virtual:third-party-notices");
  return new TextDecoder().decode(Bun.zstdDecompressSync(await Bun.file(path).bytes()));
}
